// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.config.IsoldeConfig;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.group.GroupClient;
import io.isolde.group.Layout;
import io.isolde.group.ReplicaGroup;
import io.isolde.group.Requests;
import io.isolde.oracle.group.Changes;
import io.isolde.raft.Daemons;
import io.isolde.replicated.CassandraNode;
import io.isolde.replication.KeyspaceOptions.Durability;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.ToLongFunction;
import org.apache.cassandra.locator.AbstractReplicationStrategy;
import org.apache.cassandra.schema.KeyspaceMetadata;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.SchemaChangeListener;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/** The strong keyspaces that this node knows; their groups come and go with them. */
public final class StrongKeyspaces implements SchemaChangeListener {
  private final Map<String, StrongKeyspace> known = new ConcurrentHashMap<>();
  private final Map<Durability, GroupHost> hosts = new EnumMap<>(Durability.class);

  /** What the schema says is carried out here, in order, since it takes time. */
  private final ExecutorService changes = thread("isolde-strong-keyspaces");

  /** Where replicas are opened of groups that this node joins, one after the other. */
  private final ExecutorService joins = thread("isolde-replica-joins");

  /** The last time that this node was to join a group. */
  private final Map<UUID, Joined> joined = new ConcurrentHashMap<>();

  private record Joined(UUID move, CompletableFuture<Void> done) {
    boolean isFor(UUID other) {
      return move.equals(other) && !done.isCompletedExceptionally();
    }
  }

  private final FollowerStaleness followers;
  private final GroupChanges recentChanges = new GroupChanges();
  private final CompactionAwareLeadership leadership;
  private final CassandraNode cassandra;
  private final long timeoutMillis;
  private volatile boolean isStarted;

  /** Knows none until it is started. */
  public StrongKeyspaces(IsoldeConfig config, Requests requests) {
    cassandra = new CassandraNode(config.oracle());
    timeoutMillis = config.strong().timeoutMillis();
    followers = new FollowerStaleness(config.staleness().halfLifeMillis());
    leadership = new CompactionAwareLeadership(config.strong(), this);
    for (Durability durability : Durability.values()) {
      hosts.put(durability, new GroupHost(config, durability, requests, followers, recentChanges));
    }
  }

  /**
   * Starts the groups of this node, and follows the schema from now on. Called when the node has
   * its schema and its tables.
   */
  public void start() {
    HeldGroups.are(group -> hosts.values().stream().anyMatch(host -> host.holds(group)));
    Schema.instance.registerListener(this);
    for (String name : Schema.instance.getUserKeyspaces()) {
      var unused = learn(Schema.instance.getKeyspaceMetadata(name));
    }
    isStarted = true;
    for (Map.Entry<Durability, GroupHost> host : hosts.entrySet()) {
      List<StrongKeyspace> existing =
          known.values().stream()
              .filter(keyspace -> keyspace.options().durability() == host.getKey())
              .toList();
      later(() -> host.getValue().start(existing));
    }
    leadership.start();
    recentChanges.start(
        group -> hosts.values().stream().flatMap(host -> host.replica(group).stream()).findFirst());
  }

  /** This node's replicas of a keyspace's groups. */
  List<ReplicaGroup> replicas(StrongKeyspace keyspace) {
    return keyspace.targets().stream()
        .flatMap(target -> host(keyspace).replica(target.group()).stream())
        .toList();
  }

  /** This node's id as a member. */
  String selfId() {
    return cassandra.hostId().toString();
  }

  /** What this node does so that leaders are not slowed down. */
  public CompactionAwareLeadership leadership() {
    return leadership;
  }

  /** What this node's replicas have applied lately. */
  GroupChanges recentChanges() {
    return recentChanges;
  }

  /** A figure of those who watch what this node's replicas apply. */
  public long sumOfChanges(ToLongFunction<Changes> figure) {
    return recentChanges.sum(figure);
  }

  /** How stale reads of followers are. */
  public FollowerStaleness followers() {
    return followers;
  }

  private static ExecutorService thread(String name) {
    return Executors.newSingleThreadExecutor(Daemons.named(name));
  }

  private void later(Runnable change) {
    try {
      changes.execute(change);
    } catch (RejectedExecutionException e) {
      // The node stops.
    }
  }

  private Optional<StrongKeyspace> learn(KeyspaceMetadata metadata) {
    Optional<KeyspaceOptions> options = options(metadata);
    if (options.isEmpty()) {
      return Optional.empty();
    }
    GroupHost host = hosts.get(options.get().durability());
    StrongKeyspace keyspace =
        new StrongKeyspace(metadata.name, options.get(), host.port(), host::client);
    known.put(metadata.name, keyspace);
    return Optional.of(keyspace);
  }

  /** Empty also for one that was not made by Isolde's CREATE KEYSPACE. */
  static Optional<KeyspaceOptions> options(KeyspaceMetadata metadata) {
    if (metadata.params.replication.klass != ReplicatedLogStrategy.class) {
      return Optional.empty();
    }
    AbstractReplicationStrategy strategy = metadata.createReplicationStrategy();
    KeyspaceOptions options = ((ReplicatedLogStrategy) strategy).options();
    return options.layout() == null || options.incarnation() == null
        ? Optional.empty()
        : Optional.of(options);
  }

  @Override
  public void onCreateKeyspace(KeyspaceMetadata metadata) {
    learn(metadata).ifPresent(keyspace -> later(() -> host(keyspace).open(keyspace)));
  }

  @Override
  public void onAlterKeyspace(KeyspaceMetadata before, KeyspaceMetadata after) {
    Optional<KeyspaceOptions> old = options(before);
    if (old.isPresent() && old.equals(options(after))) {
      return;
    }
    StrongKeyspace known = this.known.get(before.name);
    Optional<KeyspaceOptions> options = options(after);
    if (known != null
        && options.isPresent()
        && options.get().incarnation().equals(known.options().incarnation())) {
      learn(after).ifPresent(now -> later(() -> host(now).follow(now)));
      return;
    }
    onDropKeyspace(before, true);
    onCreateKeyspace(after);
  }

  /**
   * Makes this node ready to become a member of a group.
   *
   * @param move asked for again, it is not begun again
   */
  CompletableFuture<Void> join(UUID group, UUID move) {
    for (StrongKeyspace keyspace : known.values()) {
      for (Layout.Group one : keyspace.layout().groups()) {
        if (keyspace.target(one).group().equals(group)) {
          return joined
              .compute(
                  group,
                  (id, last) ->
                      last != null && last.isFor(move) ? last : begin(keyspace, one, move))
              .done();
        }
      }
    }
    return CompletableFuture.failedFuture(
        new IllegalArgumentException("This node does not know the replica group yet."));
  }

  private Joined begin(StrongKeyspace keyspace, Layout.Group group, UUID move) {
    return new Joined(move, CompletableFuture.runAsync(() -> join(keyspace, group), joins));
  }

  private void join(StrongKeyspace keyspace, Layout.Group group) {
    try {
      host(keyspace).join(keyspace, group);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      if (!isThere(keyspace)) {
        host(keyspace).remove(keyspace); // It was dropped meanwhile.
      }
    }
  }

  private boolean isThere(StrongKeyspace keyspace) {
    return find(keyspace.name())
        .filter(now -> now.options().incarnation().equals(keyspace.options().incarnation()))
        .isPresent();
  }

  @Override
  public void onDropKeyspace(KeyspaceMetadata metadata, boolean dropData) {
    StrongKeyspace dropped = known.remove(metadata.name);
    if (dropped != null) {
      dropped.targets().forEach(target -> joined.remove(target.group()));
      later(() -> host(dropped).remove(dropped));
    }
  }

  /** The largest payload of a write to a keyspace. */
  int maxPayloadBytes(StrongKeyspace keyspace) {
    return host(keyspace).maxPayloadBytes();
  }

  /** Where the replicas of a keyspace run on this node. */
  GroupHost host(StrongKeyspace keyspace) {
    return hosts.get(keyspace.options().durability());
  }

  /** Returns the keyspace if it is a strong one. Cheap. */
  Optional<StrongKeyspace> find(String keyspace) {
    if (known.isEmpty() && isStarted) {
      return Optional.empty();
    }
    return Optional.ofNullable(known.get(keyspace));
  }

  /**
   * Whether a keyspace is a strong one, also if this node does not serve it yet: while it starts,
   * and in the moment after it was made. Cheap.
   */
  public boolean isMeant(String name) {
    if (find(name).isPresent()) {
      return true;
    }
    return Optional.ofNullable(Schema.instance.getKeyspaceMetadata(name))
        .flatMap(StrongKeyspaces::options)
        .isPresent();
  }

  /**
   * Returns a strong keyspace; waits for a while if it was made just now.
   *
   * @throws IsoldeException UNAVAILABLE if this node does not serve it yet
   */
  StrongKeyspace get(String name) {
    return ShortWait.until(() -> find(name), () -> isStarted && isMeant(name), timeoutMillis)
        .orElseThrow(
            () ->
                IsoldeException.of(
                    ErrorCode.UNAVAILABLE,
                    isMeant(name)
                        ? "This node does not serve the keyspace " + name + " yet; try again."
                        : "The keyspace " + name + " was dropped; nothing was done.",
                    "keyspace",
                    name));
  }

  /** As {@link #get}, for what a user has named. */
  StrongKeyspace named(String name) {
    if (isMeant(name)) {
      return get(name);
    }
    throw IsoldeException.invalid(name + " is not a strong keyspace's name.");
  }

  Collection<StrongKeyspace> all() {
    return List.copyOf(known.values());
  }

  /**
   * Lets a node lead all groups of a keyspace of which it is a member.
   *
   * @param address of the node, as the cluster knows it
   * @throws IsoldeException if there is no such keyspace, or the node is a member of no group. Or
   *     it does not take over in time; groups before may be handed over then
   */
  public void lead(String name, String address) {
    StrongKeyspace keyspace = named(name);
    String host = host(address);
    List<GroupClient.Target> targets =
        keyspace.targets().stream().filter(target -> hasMember(target, host)).toList();
    if (targets.isEmpty()) {
      throw IsoldeException.invalid(address + " has no replica of " + name + ".");
    }
    boolean isToStay = PreferredLeaders.warnIfElsewhere(keyspace, host);
    GroupClient client = keyspace.client();
    for (GroupClient.Target target : targets) {
      try {
        var unused =
            (isToStay ? client.leadAndStay(target, host) : client.lead(target, host)).get();
      } catch (ExecutionException e) {
        throw IsoldeException.of(
            ErrorCode.CHANGE_FAILED,
            "%s does not lead a replica group of %s: %s isolde.replica_groups shows who leads; try"
                    .formatted(address, name, e.getCause().getMessage())
                + " again.",
            "keyspace",
            name);
      } catch (InterruptedException e) {
        throw new UncheckedInterruptedException(e);
      }
    }
  }

  private static String host(String address) {
    try {
      return InetAddress.getByName(address).getHostAddress();
    } catch (UnknownHostException e) {
      throw IsoldeException.invalid(address + " is not the address of a node.", "address", address);
    }
  }

  private static boolean hasMember(GroupClient.Target target, String host) {
    return target.members().stream()
        .anyMatch(member -> host.equals(member.address().getHostString()));
  }

  /** A group of a keyspace, with this node's replica of it if it has one. */
  public record Shown(
      String keyspace,
      Layout.Group group,
      List<Layout.Span> spans,
      GroupClient.Target target,
      Optional<ReplicaGroup> replica,
      Optional<String> problem) {}

  /** All groups, for operators. */
  public List<Shown> show() {
    List<Shown> shown = new ArrayList<>();
    for (StrongKeyspace keyspace : known.values()) {
      GroupHost host = host(keyspace);
      for (Layout.Group group : keyspace.layout().groups()) {
        GroupClient.Target target = keyspace.target(group);
        shown.add(
            new Shown(
                keyspace.name(),
                group,
                keyspace.layout().spansOf(group),
                target,
                host.replica(target.group()),
                host.problem(target.group())));
      }
    }
    return shown;
  }

  /** Stops this node's replicas; another takes over what they lead. */
  public void close() {
    Schema.instance.unregisterListener(this);
    changes.shutdown();
    joins.shutdown();
    leadership.close();
    hosts.values().forEach(GroupHost::close);
    recentChanges.close();
  }
}
