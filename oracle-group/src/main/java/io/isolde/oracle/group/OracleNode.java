// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.PendingCommit;
import io.isolde.oracle.replica.UnfinishedCommit;
import io.isolde.raft.Daemons;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.Peer;
import io.isolde.raft.ratis.RatisNode;
import io.isolde.raft.transport.PeerTransport;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A node that can be a member of the oracle's group: it is one if it was among the initial members,
 * or was added since. A node that is none refers those who ask to the members it knows.
 */
public final class OracleNode implements AutoCloseable {

  /** Changes of members, or questions of initial members, that wait; the next is refused. */
  private static final int MAX_QUEUED = 64;

  private final OracleGroupConfig config;
  private final UUID group;
  private final Path directory;
  private final Clock clock;
  private final OracleService service;
  private final Bootstrap bootstrap;
  private final PeerTransport transport;
  private final OtherMembers otherMembers;
  private final Peer self;
  private final ExecutorService changes = Daemons.one("isolde-oracle-change", MAX_QUEUED);

  /** For short looks at the disk, which event loops must not wait for. */
  private final ExecutorService disk = Daemons.one("isolde-oracle-disk", MAX_QUEUED);

  private final ExecutorService bootstrapThread =
      Daemons.one("isolde-oracle-bootstrap", MAX_QUEUED);
  private final Upkeep upkeep;

  /** Null while this node is no member. Changed under the lock of this. */
  private volatile OracleMember member;

  private volatile CommitApplier applier = CommitApplier.NONE;

  private volatile Supplier<List<Peer>> heardOf = List::of;

  private volatile LongFunction<CompletableFuture<Long>> whenVisible =
      timestamp -> CompletableFuture.failedFuture(GroupFailure.notLeader(Optional.empty()));
  private volatile boolean isClosed;

  private OracleNode(
      OracleGroupConfig config,
      String clusterName,
      Peer self,
      List<Peer> initialMembers,
      OracleFiles files,
      UnaryOperator<PeerTransport.Builder> transportOptions,
      Clock clock)
      throws IOException {
    this.config = config;
    this.group = OracleService.groupIdOf(clusterName);
    this.directory = files.log();
    this.clock = clock;
    this.self = self;
    this.bootstrap = new Bootstrap(group, initialMembers, files);
    this.service = new OracleService(this::mayKnow, bootstrap, this::onChange, disk);
    this.transport =
        transportOptions
            .apply(PeerTransport.builder(self.id()).application(service))
            .listen(self.address());
    this.otherMembers = new OtherMembers(self, transport);
    this.upkeep = new Upkeep(this, bootstrap, otherMembers, self);
  }

  /**
   * Starts a node. It becomes a member in the background, as soon as it knows that it may.
   *
   * @param clusterName keeps clusters apart that reach each other by mistake
   * @param self whose id must stay the same for as long as the directory is there
   * @param initialMembers the first members, the same on all nodes; what the log says counts more
   * @param files what the node keeps of the oracle
   * @param transportOptions sets what the port needs to know: security, who may connect
   * @throws IOException if the port is taken
   */
  public static OracleNode start(
      OracleGroupConfig config,
      String clusterName,
      Peer self,
      List<Peer> initialMembers,
      OracleFiles files,
      UnaryOperator<PeerTransport.Builder> transportOptions,
      Clock clock)
      throws IOException {
    OracleNode node =
        new OracleNode(config, clusterName, self, initialMembers, files, transportOptions, clock);
    node.bootstrapThread.execute(node.upkeep);
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

  /** What commits change, as this member sees it; empty if this node is no member (now). */
  public Optional<Changes> changes() {
    return Optional.ofNullable(member).map(current -> current.changes);
  }

  /** Whether this node leads and serves. */
  public boolean isServing() {
    OracleMember now = member; // Without the lock: who joins or stops holds that for seconds.
    return now != null && now.host.isServing();
  }

  /**
   * Commits are applied, as their coordinators say: as a coordinator's session tells it, where this
   * node knows without a request of its own.
   *
   * @return what is stable now; empty if the coordinator has to ask whoever leads
   */
  public Optional<Stable> applied(Collection<Long> commitTimestamps) {
    OracleMember now = member; // Without the lock: who joins or stops holds that for seconds.
    return now == null ? Optional.empty() : now.applied(commitTimestamps);
  }

  /**
   * A start timestamp, where this node gives it without a request, and without waiting; see {@link
   * OracleClient#beginHere}.
   */
  public Optional<Stable> begin(UUID transactionId) {
    OracleMember now = member; // As in applied().
    return now == null ? Optional.empty() : now.starts.now(transactionId);
  }

  /**
   * The members that this node has heard of; must not block. It refers others to them while it is
   * none itself, and asks them before it forgets that it was one.
   */
  public void referTo(Supplier<List<Peer>> members) {
    heardOf = members;
  }

  /**
   * Where this node's member asks when commits are visible, while it does not lead.
   *
   * @param leader completes once all up to a timestamp is visible; must not block
   */
  public void askWhenVisible(LongFunction<CompletableFuture<Long>> leader) {
    whenVisible = leader;
  }

  /** Who may know who leads. */
  private List<Peer> mayKnow() {
    Set<Peer> known = new LinkedHashSet<>(heardOf.get());
    known.addAll(bootstrap.initialMembers());
    return List.copyOf(known);
  }

  /** What applies commits on this node, for coordinators that want it, from now on. */
  public void applyWith(CommitApplier newApplier) {
    applier = newApplier;
  }

  /** Decided commits whose coordinators are gone; whoever leads has them finished. */
  public synchronized List<PendingCommit> orphans() {
    return member == null ? List.of() : member.host.orphans();
  }

  /** The same, with what it takes to finish them; none unless this node leads. */
  public synchronized List<UnfinishedCommit> unfinished() {
    return member == null ? List.of() : member.host.unfinished();
  }

  /**
   * Why this node is no member, or does not know whether it is one, though it should be; or which
   * other node it can't talk with, since that runs another build. Empty if all is well.
   */
  public Optional<String> problem() {
    return upkeep.problem().or(transport::otherBuild);
  }

  /**
   * An operator says that what the oracle has committed may be gone: this node may found it anew,
   * as soon as all initial members say so.
   *
   * @throws IllegalStateException if this node has a log of the oracle
   */
  public synchronized void acceptLoss() throws IOException {
    if (member != null || bootstrap.hasLog()) {
      throw new IllegalStateException(
          "This node has a log of the oracle in "
              + directory
              + ", so nothing is lost here. If it can't be used, move the directory away first.");
    }
    bootstrap.acceptLoss();
    upkeep.in();
  }

  /** Empty while this node is no member. */
  Optional<OracleMember> member() {
    return Optional.ofNullable(member);
  }

  /**
   * Ends a member that has failed; its log stays.
   *
   * @return whether it had not been ended already, on purpose
   */
  synchronized boolean stopFailed(OracleMember failed) {
    boolean isStillThere = member == failed;
    if (isStillThere) {
      stopMember();
    }
    return isStillThere;
  }

  private void stopMember() {
    service.serve(null);
    if (member != null) {
      member.close();
      member = null;
    }
  }

  /** Does nothing if this node is a member. */
  synchronized void startMember() throws IOException {
    if (member != null || isClosed) {
      return;
    }
    member =
        new OracleMember(
            config,
            group,
            transport,
            bootstrap.membersToStart(),
            directory,
            () -> applier,
            timestamp -> whenVisible.apply(timestamp),
            clock);
    try {
      bootstrap.started();
    } catch (IOException e) {
      stopMember();
      throw e;
    }
    service.serve(member);
  }

  private void onChange(MemberChange change, Request request) {
    long deadlineNanos =
        System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(OracleClient.CHANGE_MILLIS);
    changes.execute(
        () -> {
          try {
            if (System.nanoTime() - deadlineNanos >= 0) {
              request.refused("Other changes of the members took too long; nothing was done.");
            } else {
              carryOut(change, request);
            }
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
        bootstrap.joining();
        upkeep.in();
        startMember();
        request.answer(Wire.of(Protocol.OK));
      }
      case LEAVE -> {
        forgetMembership();
        bootstrap.left();
        upkeep.out();
        request.answer(Wire.of(Protocol.OK));
      }
      case ADD, REMOVE, LEAD -> {
        OracleMember leading;
        synchronized (this) {
          leading = member;
        }
        if (leading == null || !leading.host.isServing()) {
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
    MemberChanges membership = new MemberChanges(leading.replica, otherMembers);
    Optional<CompletableFuture<Void>> pause =
        change.kind() == MemberChange.Kind.LEAD ? leading.sequencer.pause() : Optional.empty();
    try {
      membership.carryOut(change);
    } finally {
      pause.ifPresent(leading.sequencer::resume);
    }
  }

  /**
   * Stops, and empties the directory. A member must never do it, so whoever leads is asked first.
   */
  private void forgetMembership() throws IOException {
    List<Peer> known;
    synchronized (this) {
      if (member == null && !bootstrap.hasLog()) {
        return;
      }
      known = new ArrayList<>(mayKnow());
      known.addAll(
          member == null ? RatisNode.membersOnDisk(directory, group) : member.replica.members());
    }
    if (!otherMembers.isNoMember(known)) {
      throw new IllegalStateException(self.id() + " may still be a member, so it keeps its log.");
    }
    synchronized (this) {
      stopMember();
      bootstrap.deleteLog();
    }
  }

  /** Hands over if it leads, then stops; within some seconds. */
  @Override
  public void close() {
    isClosed = true;
    upkeep.close();
    bootstrapThread.shutdownNow();
    changes.shutdownNow();
    disk.shutdownNow();
    synchronized (this) {
      if (member != null) {
        service.serve(null);
        if (member.host.isServing()) {
          MemberChanges.handOverToAnother(member.replica, self);
        }
      }
      stopMember();
    }
    transport.close();
  }
}
