// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.LogDamagedException;
import io.isolde.raft.Peer;
import io.isolde.raft.RaftSettings;
import io.isolde.raft.transport.PeerTransport;
import io.isolde.raft.transport.RaftReceiver;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.conf.Parameters;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.statemachine.StateMachine;
import org.apache.ratis.util.ProtoUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** This node's part in one or more groups, over the port of a {@link PeerTransport}. */
public final class RaftNode implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(RaftNode.class);
  private static final int CLOSE_SECONDS = 10;

  private final PeerTransport transport;
  private final RaftServer server;
  private final RaftRpcService rpc;
  private final Path directory;
  private final RaftSettings settings;
  private final Map<RaftGroupId, RaftReplica> replicas = new ConcurrentHashMap<>();
  private final ExecutorService notifier;

  private final Map<RaftGroupId, ObservedStateMachine> machines = new ConcurrentHashMap<>();

  private RaftNode(Builder builder) throws IOException {
    transport = builder.transport;
    directory = builder.directory;
    settings = builder.settings;
    RaftPeerId self = RaftPeerId.valueOf(transport.name());
    notifier = Executors.newSingleThreadExecutor(task -> daemon(task, "isolde-raft-notifier"));
    Parameters parameters = new Parameters();
    RaftRpcType.Context context = new RaftRpcType.Context(transport, settings);
    parameters.put(RaftRpcType.CONTEXT, context, RaftRpcType.Context.class);
    RaftProperties properties = RatisProperties.of(settings, directory.toFile());
    server = build(self, properties, parameters);
    rpc = context.service();
  }

  /**
   * Ratis would start whatever it finds on disk, and nothing at all if one of these can't start. So
   * it sees no logs before each group is added.
   */
  private RaftServer build(RaftPeerId self, RaftProperties properties, Parameters parameters)
      throws IOException {
    File nowhere = directory.resolve("of-no-group").toFile();
    RaftServerConfigKeys.setStorageDir(properties, List.of(nowhere));
    RaftServer built =
        RaftServer.newBuilder()
            .setServerId(self)
            .setProperties(properties)
            .setParameters(parameters)
            .setOption(RaftStorage.StartupOption.RECOVER)
            .setStateMachineRegistry(machines::get)
            .build();
    RaftServerConfigKeys.setStorageDir(properties, List.of(directory.toFile()));
    return built;
  }

  /** What a node is made of. */
  public static Builder builder(PeerTransport transport) {
    return new Builder(transport);
  }

  private void start(Builder builder) throws IOException {
    server.start();
    for (Map.Entry<RaftGroupId, Group> group : builder.groups.entrySet()) {
      addGroup(group.getKey(), group.getValue().initialMembers, group.getValue().machine);
    }
  }

  /**
   * Starts this node's replica of one more group; goes on with the log that is there. Fails if the
   * disk does not take anything.
   *
   * @param initialMembers who founds it; see {@link Builder#group}
   * @throws LogDamagedException if the log is not what this node has written
   */
  public RaftReplica addGroup(RaftGroupId id, List<Peer> initialMembers, StateMachine machine)
      throws IOException {
    ObservedStateMachine observed = new ObservedStateMachine(machine, notifier);
    if (machines.putIfAbsent(id, observed) != null) {
      throw new IllegalArgumentException("This node has a replica of group " + id + ".");
    }
    try {
      return addGroup(id, new Group(initialMembers, machine).toRatis(id), observed);
    } catch (IOException | RuntimeException e) {
      removeIfThere(id);
      observed.letGo();
      machines.remove(id);
      throw e;
    }
  }

  private RaftReplica addGroup(RaftGroupId id, RaftGroup group, ObservedStateMachine machine)
      throws IOException {
    Path log = directory.resolve(id.getUuid().toString());
    DiskProbe.write(directory);
    LogCheck.prepare(log);
    RatisRequests.addGroup(server, group, !Files.isDirectory(log));
    RaftReplica replica = new RaftReplica(server, id, machine, rpc.answers(id), settings);
    replicas.put(id, replica);
    rpc.watch(List.of(replica));
    return replica;
  }

  private void removeIfThere(RaftGroupId id) {
    for (RaftGroupId existing : server.getGroupIds()) {
      if (existing.equals(id)) {
        try {
          RatisRequests.removeGroup(server, id, false);
        } catch (IOException e) {
          log.warn("Group {}, which could not start, could not be stopped", id, e);
        }
      }
    }
  }

  /** Ends this node's replica of a group and deletes its log. */
  public void removeGroup(RaftGroupId id) throws IOException {
    removeGroup(id, true);
  }

  /** Ends this node's replica of a group, whose log stays; it acknowledges nothing any more. */
  public void stopGroup(RaftGroupId id) throws IOException {
    removeGroup(id, false);
  }

  private void removeGroup(RaftGroupId id, boolean isDeleted) throws IOException {
    rpc.unwatch(id);
    replicas.remove(id);
    if (machines.containsKey(id)) {
      RatisRequests.removeGroup(server, id, isDeleted);
      machines.remove(id); // Not before: if it fails, it can be tried again.
    }
  }

  /** This node's replica of a group. */
  public RaftReplica replica(RaftGroupId group) {
    RaftReplica replica = replicas.get(group);
    if (replica == null) {
      throw new IllegalArgumentException("This node has no replica of group " + group + ".");
    }
    return replica;
  }

  /** The members of a group that does not run, as far as its log's directory says. */
  public static List<Peer> membersOnDisk(Path directory, RaftGroupId group) {
    Path file = directory.resolve(group.getUuid().toString()).resolve("current/raft-meta.conf");
    try {
      LogEntryProto last = LogEntryProto.parseFrom(Files.readAllBytes(file));
      return last.getConfigurationEntry().getPeersList().stream()
          .map(ProtoUtils::toRaftPeer)
          .map(Peer::of)
          .toList();
    } catch (IOException | RuntimeException unknown) {
      return List.of();
    }
  }

  RaftRpcService rpc() {
    return rpc;
  }

  /** Stops the groups and closes their state machines; gives up after ten seconds. */
  @Override
  public void close() {
    transport.serveRaft(RaftReceiver.NONE);
    rpc.stopWatching();
    ExecutorService closer = Executors.newSingleThreadExecutor(task -> daemon(task, "raft-close"));
    Future<?> closed =
        closer.submit(
            () -> {
              server.close();
              return null;
            });
    try {
      closed.get(CLOSE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException e) {
      log.warn("Closing the Raft server failed", e.getCause());
    } catch (TimeoutException e) {
      log.warn("The Raft server did not close in {} s; leaving it", CLOSE_SECONDS);
    } finally {
      closer.shutdownNow();
      notifier.shutdown();
    }
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  private record Group(List<Peer> initialMembers, StateMachine machine) {
    RaftGroup toRatis(RaftGroupId id) {
      return RaftGroup.valueOf(id, initialMembers.stream().map(Peer::toRatis).toList());
    }
  }

  /** What a {@link RaftNode} is made of. */
  public static final class Builder {
    private final PeerTransport transport;
    private final Map<RaftGroupId, Group> groups = new LinkedHashMap<>();
    private RaftSettings settings = RaftSettings.defaults();
    private Path directory;

    private Builder(PeerTransport transport) {
      this.transport = transport;
    }

    /** Where logs and snapshots are kept. */
    public Builder directory(Path newDirectory) {
      directory = newDirectory;
      return this;
    }

    /** How the groups run. */
    public Builder settings(RaftSettings newSettings) {
      settings = newSettings;
      return this;
    }

    /**
     * A group.
     *
     * @param initialMembers who founds it; what is on disk counts more. Empty for a node that will
     *     be added to a group that exists
     * @param machine gets what is committed, in order; the node closes it
     */
    public Builder group(RaftGroupId id, List<Peer> initialMembers, StateMachine machine) {
      groups.put(id, new Group(List.copyOf(initialMembers), machine));
      return this;
    }

    /** Starts the node. */
    public RaftNode start() throws IOException {
      if (directory == null) {
        throw new IllegalArgumentException("A Raft node needs a directory.");
      }
      int largest = Math.max(settings.appendBytes(), RaftSettings.SNAPSHOT_CHUNK_BYTES) + (1 << 16);
      if (transport.settings().maxFrameBytes() < largest) {
        throw new IllegalArgumentException(
            "maxFrameBytes must be at least "
                + largest
                + ", so that appends and parts of snapshots fit into a frame.");
      }
      File directoryFile = directory.toFile();
      if (!directoryFile.isDirectory() && !directoryFile.mkdirs()) {
        throw new IOException("Cannot create " + directory + ".");
      }
      RaftNode node = new RaftNode(this);
      try {
        node.start(this);
      } catch (IOException | RuntimeException e) {
        node.close();
        throw e;
      }
      return node;
    }
  }
}
