// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import com.google.common.util.concurrent.Uninterruptibles;
import io.isolde.config.HeapBudget;
import io.isolde.config.IsoldeConfig;
import io.isolde.config.NodeClock;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.group.GroupClient;
import io.isolde.group.GroupServer;
import io.isolde.group.Layout;
import io.isolde.group.Membership;
import io.isolde.group.ReplicaGroup;
import io.isolde.group.ReplicaNotes;
import io.isolde.group.Requests;
import io.isolde.raft.Peer;
import io.isolde.raft.RaftSettings;
import io.isolde.raft.transport.TransportSettings;
import io.isolde.replicated.CassandraNode;
import io.isolde.replication.KeyspaceOptions.Durability;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** This node's replicas of groups of one durability. */
final class GroupHost {
  private static final Logger logger = LoggerFactory.getLogger(GroupHost.class);
  private static final int MAX_FRAME_BYTES = 128 << 20;
  private static final int HIGH_WATER_BYTES = 64 << 20;
  private static final int ATTEMPTS = 60;
  private static final String NOT_STARTED = "It has not started yet.";

  private final IsoldeConfig config;
  private final Durability durability;
  private final Requests requests;
  private final CassandraNode cassandra;
  private final FollowerStaleness followers;
  private final GroupChanges changes;

  /** Of groups that should run here and do not. */
  private final Map<UUID, String> problems = new ConcurrentHashMap<>();

  /** Of which the leader is being asked whether this node is out. */
  private final Set<UUID> leaving = ConcurrentHashMap.newKeySet();

  private volatile GroupServer server;
  private volatile ReplicaNotes notes;
  private volatile String failure = NOT_STARTED;

  GroupHost(
      IsoldeConfig config,
      Durability durability,
      Requests requests,
      FollowerStaleness followers,
      GroupChanges changes) {
    this.changes = changes;
    this.config = config;
    this.durability = durability;
    this.requests = requests;
    this.cassandra = new CassandraNode(config.oracle());
    this.followers = followers;
  }

  /** The same on all nodes. */
  int port() {
    return config.strong().port() + (durability == Durability.BATCH ? 0 : 1);
  }

  private Peer self() {
    return cassandra.member(port());
  }

  /** The largest payload of a write that a group takes. */
  int maxPayloadBytes() {
    return GroupServer.maxPayloadBytes(settings());
  }

  private Path records() {
    return cassandra.dataDirectory().resolve("isolde-groups");
  }

  private RaftSettings settings() {
    return LogSettings.of(config.strong(), durability);
  }

  synchronized void start(List<StrongKeyspace> existing) {
    String name = durability == Durability.BATCH ? "batch" : "periodic";
    List<GroupServer.Opening> openings = new ArrayList<>();
    try {
      notes = new ReplicaNotes(records());
    } catch (IOException e) {
      failure = String.valueOf(e.getMessage());
      logger.error("This node's replica groups ({}) can't start", name, e);
      return;
    }
    for (StrongKeyspace keyspace : existing) {
      openings.addAll(openings(keyspace));
    }
    GroupServer.Options options =
        new GroupServer.Options(
            settings(),
            self(),
            cassandra.directory(config.strong().directory()).resolve(name),
            records(),
            config.strong().logBytes(),
            HeapBudget.ofThisNode().groupQueueBytes(),
            config.strong().timeoutMillis(),
            () -> NodeClock.nowMillis() * 1_000);
    TransportSettings bounds =
        TransportSettings.defaults()
            .withMaxFrameBytes(MAX_FRAME_BYTES)
            .withConnectionBounds(HIGH_WATER_BYTES, TransportSettings.defaults().maxInFlight());
    cassandra.quietRatis();
    try {
      server =
          new GroupServer(
              options,
              openings,
              requests,
              transport ->
                  transport
                      .settings(bounds)
                      .security(cassandra.security())
                      .accept(cassandra.ofThisCluster()));
      if (config.staleness().sampleOneIn() > 0) {
        server.measureFollowers(config.staleness().sampleOneIn(), followers);
      }
      failure = null;
    } catch (IOException | RuntimeException e) {
      failure = String.valueOf(e.getMessage());
      openings.forEach(opening -> problems.put(opening.id(), failure));
      logger.error("This node's replica groups ({}) can't start", name, e);
      return;
    }
    existing.forEach(this::rejoin);
    existing.forEach(this::follow);
  }

  private List<GroupServer.Opening> openings(StrongKeyspace keyspace) {
    List<GroupServer.Opening> openings = new ArrayList<>();
    for (Layout.Group group : keyspace.layout().groups()) {
      GroupClient.Target target = keyspace.target(group);
      boolean isJoining = notes.isJoining(target.group());
      boolean isInitialMember = group.hasMember(self().id()) && !isJoining;
      // One with a log may still be a member, whatever the layout says.
      if (isInitialMember || isJoining || takesPlace(group) || notes.hasLog(target.group())) {
        openings.add(
            new GroupServer.Opening(
                target.group(),
                isInitialMember ? target.members() : List.of(),
                storage(keyspace, group)));
      }
    }
    return openings;
  }

  private TableStorage storage(StrongKeyspace keyspace, Layout.Group group) {
    UUID id = keyspace.target(group).group();
    return new TableStorage(
        keyspace.name(),
        keyspace.layout(),
        group,
        id,
        keyspace::isInSchema,
        new GroupTruncations(keyspace).after(group, this),
        changes.replica(id));
  }

  /** Whether a member had this node's address, and this node is not that any more. */
  private boolean takesPlace(Layout.Group group) {
    return !group.hasMember(self().id())
        && group.members().stream()
            .anyMatch(
                member ->
                    ReplicatedLogStrategy.address(member)
                        .getAddress()
                        .equals(self().address().getAddress()));
  }

  /** A keyspace is there now. */
  synchronized void open(StrongKeyspace keyspace) {
    if (server == null) {
      return;
    }
    for (GroupServer.Opening opening : openings(keyspace)) {
      server.open(opening);
    }
    rejoin(keyspace);
  }

  /** A node that has lost what it had is taken in again, in the background. */
  private void rejoin(StrongKeyspace keyspace) {
    for (Layout.Group group : keyspace.layout().groups()) {
      if (takesPlace(group)) {
        inBackground(
            "isolde-rejoin-" + keyspace.name(),
            () -> untilDone(keyspace.target(group), this::rejoin));
      }
    }
  }

  private void rejoin(GroupClient.Target target) throws IOException {
    try {
      var unused =
          started()
              .membership()
              .rejoin(target)
              .get(2 * config.strong().timeoutMillis(), TimeUnit.MILLISECONDS);
      problems.remove(target.group());
    } catch (ExecutionException | TimeoutException e) {
      problems.put(target.group(), "Waiting to be taken in: " + e.getMessage());
      throw new IOException(e);
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private static void inBackground(String name, Runnable task) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    thread.start();
  }

  /** What a leader has to be asked for. */
  private interface Question {
    void ask(GroupClient.Target target) throws IOException;
  }

  /** Gives up after a while; at the next start it is tried again. */
  private void untilDone(GroupClient.Target target, Question question) {
    for (int attempt = 0; attempt < ATTEMPTS && server != null; attempt++) {
      try {
        question.ask(target);
        return;
      } catch (IOException e) {
        logger.info("Replica group {} has not answered this node yet", target.group(), e);
      }
      Uninterruptibles.sleepUninterruptibly(config.strong().timeoutMillis(), TimeUnit.MILLISECONDS);
    }
    leaving.remove(target.group());
  }

  /** Whether this node has a log of a group, or is to have one; true also while nobody knows. */
  boolean holds(UUID group) {
    ReplicaNotes known = notes;
    return known == null || known.hasLog(group) || known.isJoining(group);
  }

  /** Makes this node ready to become a member of a group; see {@link Membership#join}. */
  void join(StrongKeyspace keyspace, Layout.Group group) throws IOException {
    TableStorage storage = storage(keyspace, group);
    started().membership().join(keyspace.target(group), storage);
  }

  /** How long a step of a move of a replica may take before it is asked for again. */
  long tryMillis() {
    return 2 * config.strong().timeoutMillis();
  }

  GroupServer started() throws IOException {
    GroupServer started = server;
    if (started == null) {
      throw new IOException("This node's replica groups do not run: " + failure);
    }
    return started;
  }

  /**
   * The layout has changed: what this node has of groups of which it is no member goes, as soon as
   * their leaders say so.
   */
  synchronized void follow(StrongKeyspace keyspace) {
    if (server == null) {
      return;
    }
    for (Layout.Group group : keyspace.layout().groups()) {
      UUID id = keyspace.target(group).group();
      try {
        if (group.hasMember(self().id())) {
          server.joined(id);
        }
      } catch (IOException | RuntimeException e) {
        logger.error("Replica group {} of {} is not noted as joined", id, keyspace.name(), e);
      }
    }
    leave(keyspace);
  }

  private void leave(StrongKeyspace keyspace) {
    List<GroupClient.Target> others =
        keyspace.layout().groups().stream()
            .filter(group -> !group.hasMember(self().id()) && !takesPlace(group))
            .map(keyspace::target)
            .filter(target -> replica(target.group()).isPresent())
            .filter(target -> leaving.add(target.group()))
            .toList();
    if (!others.isEmpty()) {
      inBackground(
          "isolde-leave-" + keyspace.name(),
          () -> others.forEach(target -> untilDone(target, this::leave)));
    }
  }

  private void leave(GroupClient.Target target) throws IOException {
    UUID id = target.group();
    GroupServer started = started();
    started.membership().leaveIfOut(target);
    leaving.remove(id);
    if (started.group(id).isEmpty()) {
      forget(id);
    }
  }

  private void forget(UUID id) {
    followers.forget(id);
    changes.forget(id);
    problems.remove(id);
  }

  synchronized void remove(StrongKeyspace keyspace) {
    if (server == null) {
      return;
    }
    for (Layout.Group group : keyspace.layout().groups()) {
      UUID id = keyspace.target(group).group();
      try {
        server.remove(id);
        forget(id);
      } catch (IOException | RuntimeException e) {
        logger.error("Replica group {} of {} can't be removed", id, keyspace.name(), e);
      }
    }
  }

  Optional<ReplicaGroup> replica(UUID group) {
    GroupServer started = server;
    return started == null ? Optional.empty() : started.group(group);
  }

  Optional<String> problem(UUID group) {
    GroupServer started = server;
    Optional<String> problem = started == null ? Optional.empty() : started.problem(group);
    return problem
        .or(() -> Optional.ofNullable(problems.get(group)))
        .or(() -> replica(group).flatMap(ReplicaGroup::problem));
  }

  /** The way to the leaders; waits for a while if the node is starting. */
  GroupClient client() {
    return ShortWait.until(
            () -> Optional.ofNullable(server),
            () -> NOT_STARTED.equals(failure),
            config.strong().timeoutMillis())
        .orElseThrow(
            () ->
                IsoldeException.of(
                    ErrorCode.UNAVAILABLE,
                    "This node does not serve strong keyspaces of this durability: " + failure))
        .client();
  }

  synchronized void close() {
    GroupServer started = server;
    server = null;
    failure = "This node stops.";
    if (started != null) {
      started.close();
    }
  }
}
