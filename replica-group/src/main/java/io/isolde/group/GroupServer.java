// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.ByteBudget;
import io.isolde.raft.DurableFile;
import io.isolde.raft.Peer;
import io.isolde.raft.RaftNode;
import io.isolde.raft.RaftReplica;
import io.isolde.raft.RaftSettings;
import io.isolde.raft.ratis.RatisNode;
import io.isolde.raft.transport.NodeConnections;
import io.isolde.raft.transport.PeerTransport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * This node's replicas of groups that share a durability: one Raft server with many groups, over
 * one port. It is not the oracle's server. Ratis has one way of syncing and of catching up for all
 * groups of a server. And bulk data must not hold up the oracle's votes.
 */
public final class GroupServer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(GroupServer.class);

  private final Path directory;
  private final ReplicaNotes notes;
  private final long maxLogBytes;
  private final int maxEntryBytes;
  private final LongSupplier wallMicros;
  private final ByteBudget queueMemory;
  private final PeerTransport transport;
  private final NodeConnections connections;
  private final GroupClient client;
  private final FollowerProbe probe;
  private final String self;
  private final Map<UUID, ReplicaGroup> groups = new ConcurrentHashMap<>();

  /** Of which this node has none, or not now, whatever a layout says. */
  private final Set<UUID> stopped = ConcurrentHashMap.newKeySet();

  private final Membership membership;
  private final RaftNode node;
  private final GroupUpkeep upkeep =
      new GroupUpkeep(this::startAgain, id -> group(id).flatMap(ReplicaGroup::failure));

  /**
   * A replica to start.
   *
   * @param initialMembers the first members; empty for a node that takes the place of one
   */
  public record Opening(UUID id, List<Peer> initialMembers, Storage storage) {}

  /**
   * What a server is made of.
   *
   * @param self whose id is never used again once the node has lost its data
   * @param directory of the logs
   * @param records where it is noted, on another disk if there is one, which logs there must be
   * @param maxLogBytes of each group, before its storage is made durable and the log goes
   * @param maxQueuedBytes of what waits for the logs of all groups together
   * @param timeoutMillis how long requests of this node ride through changes of leaders
   * @param wallMicros since 1970, as this node's clock shows it; may go wrong, and be turned back
   */
  public record Options(
      RaftSettings settings,
      Peer self,
      Path directory,
      Path records,
      long maxLogBytes,
      long maxQueuedBytes,
      long timeoutMillis,
      LongSupplier wallMicros) {}

  /**
   * Starts with the groups that exist, without those that this node has left. Logs of others are
   * deleted. A group that can't start stays out, as {@link #problem} says, and is tried again.
   */
  public GroupServer(
      Options options,
      List<Opening> existing,
      Requests requests,
      UnaryOperator<PeerTransport.Builder> transportOptions)
      throws IOException {
    directory = Files.createDirectories(options.directory());
    notes = new ReplicaNotes(options.records());
    maxLogBytes = options.maxLogBytes();
    queueMemory = new ByteBudget(options.maxQueuedBytes());
    maxEntryBytes = maxEntryBytes(options.settings());
    wallMicros = options.wallMicros();
    List<Opening> openings =
        existing.stream().filter(opening -> !notes.hasLeft(opening.id())).toList();
    deleteOthers(openings);
    transport =
        transportOptions
            .apply(
                PeerTransport.builder(options.self().id())
                    .application(new GroupService(groups::get, notes::membersWhenLeft, requests)))
            .listen(options.self().address());
    connections = new NodeConnections(transport::connect);
    client = new GroupClient(this, connections, requests, options.timeoutMillis());
    probe = new FollowerProbe(connections);
    self = options.self().id();
    membership =
        new Membership(this, client, connections, notes, options.self(), options.timeoutMillis());
    try {
      node = RatisNode.start(transport, directory, options.settings());
    } catch (IOException | RuntimeException e) {
      transport.close();
      throw e;
    }
    openings.forEach(this::tryToStart);
    upkeep.start();
  }

  /** This node's id as a member. */
  String self() {
    return self;
  }

  private static int maxEntryBytes(RaftSettings settings) {
    return settings.appendBytes() / 4 * 3;
  }

  /** The largest payload of a write that a server with these settings takes. */
  public static int maxPayloadBytes(RaftSettings settings) {
    return maxEntryBytes(settings) - Entry.ITEM_HEADER_BYTES;
  }

  private GroupStateMachine machine(Opening opening) {
    return new GroupStateMachine(
        opening.id(),
        opening.storage(),
        from -> client.state(opening.id(), from),
        maxLogBytes,
        index -> onAnswered(opening.id(), index));
  }

  private void onAnswered(UUID id, long index) {
    ReplicaGroup group = probe.isChosen(index) ? groups.get(id) : null;
    if (group != null) {
      probe.answered(
          id, index, group.members().stream().filter(peer -> !peer.id().equals(self)).toList());
    }
  }

  /**
   * Measures from now on, for the groups that are led here, how long followers do not have what is
   * answered.
   *
   * @param oneIn of so many entries of a log one is asked about
   */
  public void measureFollowers(int oneIn, FollowerProbe.Listener listener) {
    probe.start(oneIn, listener);
  }

  private void opened(UUID id, RaftReplica replica, GroupStateMachine machine) throws IOException {
    ReplicaGroup group =
        new ReplicaGroup(id, replica, machine, maxEntryBytes, wallMicros, queueMemory);
    notes.logMade(id);
    groups.put(id, group);
  }

  private void checkLog(UUID id) throws LogLostException {
    Path log = directory.resolve(id.toString());
    if (notes.hasLog(id) && !Files.isDirectory(log.resolve("current"))) {
      throw new LogLostException(id, log);
    }
  }

  /** The log of a group is not where it must be, so this node must not be a member any more. */
  public static final class LogLostException extends IOException {
    private static final long serialVersionUID = 1L;

    LogLostException(UUID group, Path log) {
      super(
          "The log of replica group "
              + group
              + " must be in "
              + log
              + ", but it is not. This node must not vote as if nothing had happened: delete all of"
              + " its data and start it again as a replacement of itself.");
    }
  }

  /**
   * Starts this node's replica of one more group; does nothing if it runs, if this node has left
   * the group, or if it is being prepared to join it. If it can't start, it is tried again.
   */
  public synchronized void open(Opening opening) {
    UUID id = opening.id();
    if (!groups.containsKey(id) && !stopped.contains(id) && !notes.hasLeft(id)) {
      tryToStart(opening);
    }
  }

  private void tryToStart(Opening opening) {
    try {
      start(opening);
    } catch (IOException | RuntimeException e) {
      upkeep.failed(opening, e);
    }
  }

  /** Why this node's replica of a group does not run, though it should; empty if it does. */
  public Optional<String> problem(UUID id) {
    return upkeep.problem(id);
  }

  private synchronized void startAgain(Opening opening) throws IOException {
    UUID id = opening.id();
    if (stopped.contains(id) || notes.hasLeft(id)) {
      return;
    }
    if (groups.containsKey(id)) {
      stopReplica(id);
    }
    start(opening);
  }

  private void start(Opening opening) throws IOException {
    checkLog(opening.id());
    GroupStateMachine machine = machine(opening);
    UUID id = opening.id();
    opened(id, node.addGroup(id, opening.initialMembers(), machine), machine);
    upkeep.runs(opening);
  }

  /** Starts an empty replica of a group, as one that will be a member. */
  synchronized void openJoining(UUID id, Storage storage) throws IOException {
    // Noted first, lest a power failure leave a log that nobody claims.
    notes.joining(id, true);
    start(new Opening(id, List.of(), storage));
    notes.cameBack(id);
    stopped.remove(id);
  }

  /**
   * The layout says that this node is a member; that it was joining is forgotten if the group's log
   * says so, too, since a layout can be older than what it is asked for.
   */
  public synchronized void joined(UUID id) throws IOException {
    ReplicaGroup group = groups.get(id);
    if (group != null && group.members().stream().anyMatch(peer -> peer.id().equals(self))) {
      notes.cameBack(id); // First: who has left and is not joining has no log.
      notes.joining(id, false);
    }
  }

  /**
   * Until it is opened again, or for ever, this node's replica of a group is as if it were down.
   */
  synchronized void stop(UUID id) throws IOException {
    stopped.add(id);
    upkeep.forget(id);
    stopReplica(id);
  }

  private void stopReplica(UUID id) throws IOException {
    forget(id);
    node.stopGroup(id);
  }

  /** The log is closed only when nothing is being applied any more. */
  private void forget(UUID id) {
    ReplicaGroup group = groups.remove(id);
    if (group != null) {
      group.stop();
    }
  }

  synchronized void openAgain(UUID id, Storage storage) throws IOException {
    node.stopGroup(id); // if that failed before
    start(new Opening(id, List.of(), storage));
    stopped.remove(id);
  }

  /**
   * Ends this node's replica of a group, of which it is no member, and deletes its log.
   *
   * @param members that the group has
   */
  synchronized void discard(UUID id, List<Peer> members) throws IOException {
    notes.left(id, members);
    stopped.add(id);
    removeLog(id);
  }

  /** As {@link #discard}, unless the replica is not the one that was seen, or is joining now. */
  synchronized void discardIfStill(ReplicaGroup seen, List<Peer> members) throws IOException {
    if (groups.get(seen.id()) == seen && !notes.isJoiningLately(seen.id())) {
      discard(seen.id(), members);
    }
  }

  /** Ends this node's replica of a group that is no more, and deletes its log. */
  public synchronized void remove(UUID id) throws IOException {
    removeLog(id);
    stopped.remove(id);
    notes.forget(id);
  }

  private void removeLog(UUID id) throws IOException {
    upkeep.forget(id);
    forget(id);
    notes.logGone(id);
    node.removeGroup(id);
    Path log = directory.resolve(id.toString());
    if (Files.exists(log)) {
      DurableFile.deleteTree(log); // of one that was stopped
    }
  }

  private void deleteOthers(List<Opening> existing) throws IOException {
    Set<String> names = new HashSet<>();
    existing.forEach(opening -> names.add(opening.id().toString()));
    try (var logs = Files.list(directory)) {
      for (Path old : logs.toList()) {
        String name = old.getFileName().toString();
        if (!names.contains(name) && Files.isDirectory(old.resolve("current"))) {
          log.info("Deleting the log of replica group {}, which is not for this node", name);
          notes.logGone(UUID.fromString(name));
          DurableFile.deleteTree(old);
        }
      }
    }
  }

  /** This node's replica of a group. */
  public Optional<ReplicaGroup> group(UUID id) {
    return Optional.ofNullable(groups.get(id));
  }

  /** How nodes become members and leave. */
  public Membership membership() {
    return membership;
  }

  /** The way to the leaders of all groups that are served over ports like this. */
  public GroupClient client() {
    return client;
  }

  @Override
  public void close() {
    upkeep.close();
    client.close();
    groups.values().forEach(ReplicaGroup::stop);
    groups.clear();
    node.close();
    transport.close();
  }
}
