// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.PendingCommit;
import io.isolde.oracle.replica.UnfinishedCommit;
import io.isolde.raft.Peer;
import io.isolde.raft.PeerTransport;
import io.isolde.raft.RaftFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node that can be a member of the oracle's group: it is one if it was among the founders, or was
 * added since. A node that is none refers those who ask to the members it knows.
 */
public final class OracleNode implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(OracleNode.class);
  private static final long PROBE_MILLIS = 250;
  private static final long HAND_OVER_MILLIS = 3_000;

  private final OracleGroupConfig config;
  private final UUID group;
  private final Path directory;
  private final Clock clock;
  private final OracleService service;
  private final Founding founding;
  private final PeerTransport transport;
  private final Neighbours neighbours;
  private final Peer self;
  private final ExecutorService changes = daemon("isolde-oracle-change");
  private final ExecutorService founder = daemon("isolde-oracle-founder");

  /** Null while this node is no member. Changed under the lock of this. */
  private volatile OracleMember member;

  private volatile CommitApplier applier = CommitApplier.NONE;
  private volatile boolean isClosed;

  private OracleNode(
      OracleGroupConfig config,
      String clusterName,
      Peer self,
      List<Peer> founders,
      Path directory,
      UnaryOperator<PeerTransport.Builder> transportOptions,
      Clock clock)
      throws IOException {
    this.config = config;
    this.group = OracleService.groupIdOf(clusterName);
    this.directory = directory;
    this.clock = clock;
    this.self = self;
    this.founding = new Founding(founders, directory);
    this.service = new OracleService(founding, this::onChange);
    this.transport =
        transportOptions
            .apply(PeerTransport.builder(self.id()).application(service))
            .listen(self.address());
    this.neighbours = new Neighbours(self, transport);
  }

  /**
   * Starts a node. It becomes a member in the background, as soon as it knows that it may.
   *
   * @param clusterName keeps clusters apart that reach each other by mistake
   * @param self whose id must stay the same for as long as the directory is there
   * @param founders the first members, the same on all nodes; what the log says counts more
   * @param directory of the log; must not be lost while the node is a member
   * @param transportOptions sets what the port needs to know: security, who may connect
   * @throws IOException if the port is taken
   */
  public static OracleNode start(
      OracleGroupConfig config,
      String clusterName,
      Peer self,
      List<Peer> founders,
      Path directory,
      UnaryOperator<PeerTransport.Builder> transportOptions,
      Clock clock)
      throws IOException {
    OracleNode node =
        new OracleNode(config, clusterName, self, founders, directory, transportOptions, clock);
    boolean isFounder = founders.stream().anyMatch(peer -> peer.id().equals(self.id()));
    if (isFounder || Founding.hasLog(directory)) {
      var unused = node.founder.submit(() -> node.startWhenAllowed(founders));
    }
    return node;
  }

  /** The node's port. */
  public PeerTransport transport() {
    return transport;
  }

  /** What this node knows of the group; empty if it is no member (yet). */
  public synchronized Optional<OracleStatus> status() {
    return Optional.ofNullable(member).map(OracleMember::status);
  }

  /** Whether this node leads and serves. */
  public synchronized boolean isServing() {
    return member != null && member.host().isServing();
  }

  /**
   * Commits are applied, as their coordinators say: as a coordinator's session tells it, where this
   * node knows without a request of its own.
   *
   * @return what is stable now; empty if this node does not lead, or that does not do for one of
   *     them: then the coordinator has to tell it itself
   */
  public Optional<Stable> applied(Collection<Long> commitTimestamps) {
    OracleMember now = member; // Without the lock: who joins or stops holds that for seconds.
    return now == null ? Optional.empty() : now.applied(commitTimestamps);
  }

  /** What applies commits on this node, for coordinators that want it, from now on. */
  public void applyWith(CommitApplier newApplier) {
    applier = newApplier;
  }

  /** Decided commits whose coordinators are gone; whoever leads has them finished. */
  public synchronized List<PendingCommit> orphans() {
    return member == null ? List.of() : member.orphans();
  }

  /** The same, with what it takes to finish them; none unless this node leads. */
  public synchronized List<UnfinishedCommit> unfinished() {
    return member == null ? List.of() : member.host().unfinished();
  }

  private void startWhenAllowed(List<Peer> founders) {
    boolean isOver = false;
    while (!isOver && !isClosed) {
      try {
        isOver = takeStep(founding.next(neighbours.probe(founding, founders)), founders);
      } catch (IOException | RuntimeException | Error e) {
        log.error("The oracle's member on this node could not start; trying again", e);
      }
      if (!isOver) {
        sleep();
      }
    }
  }

  /** Returns whether that was the last. */
  private boolean takeStep(Founding.Step step, List<Peer> founders) throws IOException {
    switch (step) {
      case START -> {
        startMember();
        return true;
      }
      case LOG_LOST -> {
        log.error(
            "The oracle's group exists, but this node has no log of it in {}: the log is lost, or"
                + " the node was removed. It must not vote as if nothing had happened. To take it"
                + " in: ALTER ORACLE REMOVE '{}' if it is still a member, then ALTER ORACLE ADD"
                + " '{}'.",
            directory,
            self.id(),
            self.id());
        return true;
      }
      case DISAGREEMENT ->
          log.error(
              "The members that found the oracle's group disagree about who they are; this node"
                  + " is told {}. They must have the same setting; waiting.",
              founders);
      case WAIT -> log.info("Waiting for all founders of the oracle's group: {}", founders);
    }
    return false;
  }

  private synchronized void startMember() throws IOException {
    if (member != null || isClosed) {
      return;
    }
    member =
        new OracleMember(
            config, group, transport, founding.initialMembers(), directory, () -> applier, clock);
    founding.started();
    service.serve(member);
  }

  private void onChange(MemberChange change, Request request) {
    changes.execute(
        () -> {
          try {
            carryOut(change, request);
          } catch (ExecutionException | TimeoutException | RuntimeException | IOException e) {
            Throwable cause = e instanceof ExecutionException ? e.getCause() : e;
            request.refused(
                "The members could not be changed: "
                    + (cause.getMessage() == null ? cause : cause.getMessage()));
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        });
  }

  private void carryOut(MemberChange change, Request request)
      throws ExecutionException, TimeoutException, InterruptedException, IOException {
    switch (change.kind()) {
      case JOIN -> {
        // What is left of an earlier membership is of no use, and may be wrong.
        forgetMembership();
        founding.joining();
        startMember();
        request.answer(Wire.of(Protocol.OK));
      }
      case LEAVE -> {
        forgetMembership();
        request.answer(Wire.of(Protocol.OK));
      }
      case ADD, REMOVE, LEAD -> {
        OracleMember leading;
        synchronized (this) {
          leading = member;
        }
        if (leading == null || !leading.host().isServing()) {
          request.notLeader(service.leading());
        } else {
          carryOut(change, leading);
          request.answer(Wire.of(Protocol.OK));
        }
      }
    }
  }

  private void carryOut(MemberChange change, OracleMember leading)
      throws ExecutionException, TimeoutException, InterruptedException {
    Membership membership = new Membership(leading.replica(), neighbours::tell);
    boolean isHeld = change.kind() == MemberChange.Kind.LEAD && leading.sequencer().hold();
    try {
      membership.carryOut(change);
    } finally {
      if (isHeld) {
        leading.sequencer().goOn();
      }
    }
  }

  /**
   * Stops, and empties the directory. Anybody who reaches the port can ask for it, and a member
   * must never do it, so whoever leads is asked first.
   */
  private void forgetMembership() throws IOException {
    List<Peer> known;
    synchronized (this) {
      if (member == null && !Founding.hasLog(directory)) {
        return;
      }
      known = member == null ? List.of() : member.replica().members();
    }
    if (!neighbours.isNoMember(known)) {
      throw new IllegalStateException(self.id() + " may still be a member, so it keeps its log.");
    }
    synchronized (this) {
      service.serve(null);
      if (member != null) {
        member.close();
        member = null;
      }
      empty(directory);
    }
  }

  private static void empty(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    try (var files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        if (!file.equals(directory)) {
          Files.delete(file);
        }
      }
    }
  }

  private static void sleep() {
    try {
      Thread.sleep(PROBE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static ExecutorService daemon(String name) {
    return Executors.newSingleThreadExecutor(
        task -> {
          Thread thread = new Thread(task, name);
          thread.setDaemon(true);
          return thread;
        });
  }

  /** Hands over if it leads, then stops; within some seconds. */
  @Override
  public void close() {
    isClosed = true;
    founder.shutdownNow();
    changes.shutdownNow();
    synchronized (this) {
      service.serve(null);
      if (member != null) {
        handOver();
        member.close();
        member = null;
      }
    }
    transport.close();
  }

  private void handOver() {
    if (!member.host().isServing()) {
      return;
    }
    for (Peer peer : member.replica().members()) {
      if (!peer.id().equals(self.id())) {
        try {
          member
              .replica()
              .transferLeadership(peer.id(), HAND_OVER_MILLIS)
              .get(2 * HAND_OVER_MILLIS, TimeUnit.MILLISECONDS);
          return;
        } catch (ExecutionException | TimeoutException | RaftFailure e) {
          log.info("{} could not take over the oracle: {}", peer.id(), e.toString());
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
      }
    }
  }
}
