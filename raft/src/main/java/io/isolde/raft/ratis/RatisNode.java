// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import io.isolde.raft.Daemons;
import io.isolde.raft.FileStateMachine;
import io.isolde.raft.Peer;
import io.isolde.raft.RaftNode;
import io.isolde.raft.RaftReplica;
import io.isolde.raft.RaftSettings;
import io.isolde.raft.StateMachine;
import io.isolde.raft.transport.PeerTransport;
import io.isolde.raft.transport.RaftReceiver;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
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
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.server.storage.RaftStorage;
import org.apache.ratis.util.ProtoUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** This node's part in groups, in one server of Ratis over the port of a {@link PeerTransport}. */
public final class RatisNode implements RaftNode {
  private static final Logger log = LoggerFactory.getLogger(RatisNode.class);
  private static final int CLOSE_SECONDS = 10;

  private final PeerTransport transport;
  private final RaftServer server;
  private final RaftRpcService rpc;
  private final Path directory;
  private final RaftSettings settings;
  private final ExecutorService notifier;
  private final Map<RaftGroupId, RatisStateMachine> machines = new ConcurrentHashMap<>();

  private RatisNode(PeerTransport transport, Path directory, RaftSettings settings)
      throws IOException {
    this.transport = transport;
    this.directory = directory;
    this.settings = settings;
    notifier = Executors.newSingleThreadExecutor(Daemons.named("isolde-raft-notifier"));
    Parameters parameters = new Parameters();
    RaftRpcType.Context context = new RaftRpcType.Context(transport, settings);
    parameters.put(RaftRpcType.CONTEXT, context, RaftRpcType.Context.class);
    server = build(parameters);
    rpc = context.service();
  }

  /**
   * Starts a node without groups.
   *
   * @param transport of which it takes the Raft requests
   * @param directory where logs and saved states are; it is made if need be
   */
  public static RatisNode start(PeerTransport transport, Path directory, RaftSettings settings)
      throws IOException {
    int largest = Math.max(settings.appendBytes(), RaftSettings.SNAPSHOT_CHUNK_BYTES) + (1 << 16);
    if (transport.settings().maxFrameBytes() < largest) {
      throw new IllegalArgumentException(
          "maxFrameBytes must be at least "
              + largest
              + ", so that appends and parts of snapshots fit into a frame.");
    }
    if (!Files.isDirectory(directory)) { // Also if it is a link to one.
      Files.createDirectories(directory);
    }
    RatisNode node = new RatisNode(transport, directory, settings);
    try {
      node.server.start();
    } catch (IOException | RuntimeException e) {
      node.close();
      throw e;
    }
    return node;
  }

  /**
   * Ratis would start whatever it finds on disk, and nothing at all if one of these can't start. So
   * it sees no logs before each group is added.
   */
  private RaftServer build(Parameters parameters) throws IOException {
    RaftProperties properties = RatisProperties.of(settings);
    RaftServerConfigKeys.setStorageDir(
        properties, List.of(directory.resolve("of-no-group").toFile()));
    RaftServer built =
        RaftServer.newBuilder()
            .setServerId(RaftPeerId.valueOf(transport.name()))
            .setProperties(properties)
            .setParameters(parameters)
            .setOption(RaftStorage.StartupOption.RECOVER)
            .setStateMachineRegistry(machines::get)
            .build();
    RaftServerConfigKeys.setStorageDir(properties, List.of(directory.toFile()));
    return built;
  }

  @Override
  public RaftReplica addGroup(UUID group, List<Peer> initialMembers, StateMachine machine)
      throws IOException {
    return add(RaftGroupId.valueOf(group), initialMembers, machine);
  }

  RatisReplica add(RaftGroupId group, List<Peer> initialMembers, StateMachine machine)
      throws IOException {
    if (machine instanceof FileStateMachine != settings.installSnapshots()) {
      throw new IllegalArgumentException(
          "With installSnapshots a state is one in files, and without it one that is copied.");
    }
    RatisStateMachine ratisMachine = new RatisStateMachine(machine, notifier);
    if (machines.putIfAbsent(group, ratisMachine) != null) {
      throw new IllegalArgumentException("This node has a replica of group " + group + ".");
    }
    try {
      return start(RaftGroup.valueOf(group, RatisTypes.ratis(initialMembers)), ratisMachine);
    } catch (IOException | RuntimeException e) {
      endIfThere(group);
      ratisMachine.letGo();
      machines.remove(group);
      throw e;
    }
  }

  private RatisReplica start(RaftGroup group, RatisStateMachine machine) throws IOException {
    RaftGroupId id = group.getGroupId();
    Path groupDirectory = directory.resolve(id.getUuid().toString());
    DiskProbe.write(directory);
    LogCheck.prepare(groupDirectory);
    boolean isNew = !Files.isDirectory(groupDirectory);
    manage(
        GroupManagementRequest.newAdd(ClientId.randomId(), server.getId(), 0, group, isNew),
        "start");
    FollowerAnswers answers = rpc.answers(id);
    RatisMember member = new RatisMember(server, id, machine, answers, settings);
    RatisReplica replica = new RatisReplica(server, member, machine, answers);
    rpc.watch(member);
    return replica;
  }

  private void manage(GroupManagementRequest request, String what) throws IOException {
    RaftClientReply reply = server.groupManagement(request);
    if (!reply.isSuccess()) {
      throw new IOException(
          "Cannot " + what + " group " + request.getRaftGroupId(), reply.getException());
    }
  }

  private void endIfThere(RaftGroupId group) {
    for (RaftGroupId existing : server.getGroupIds()) {
      if (existing.equals(group)) {
        try {
          end(group, false);
        } catch (IOException e) {
          log.warn("Group {}, which could not start, could not be stopped", group, e);
        }
      }
    }
  }

  private void end(RaftGroupId group, boolean isDeleted) throws IOException {
    RatisStateMachine machine = machines.get(group);
    if (machine != null) {
      try {
        machine.awaitEndOfEntry();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted while the last entry was applied");
      }
    }
    manage(
        GroupManagementRequest.newRemove(
            ClientId.randomId(), server.getId(), 0, group, isDeleted, false),
        "remove");
  }

  @Override
  public void removeGroup(UUID group) throws IOException {
    remove(RaftGroupId.valueOf(group), true);
  }

  @Override
  public void stopGroup(UUID group) throws IOException {
    remove(RaftGroupId.valueOf(group), false);
  }

  private void remove(RaftGroupId group, boolean isDeleted) throws IOException {
    rpc.unwatch(group);
    if (machines.containsKey(group)) {
      end(group, isDeleted);
      machines.remove(group); // Not before: if it fails, it can be tried again.
    }
  }

  /** The members of a group that does not run, as far as its log's directory says. */
  public static List<Peer> membersOnDisk(Path directory, UUID group) {
    Path file = directory.resolve(group.toString()).resolve("current/raft-meta.conf");
    try {
      LogEntryProto last = LogEntryProto.parseFrom(Files.readAllBytes(file));
      List<RaftPeer> peers =
          last.getConfigurationEntry().getPeersList().stream().map(ProtoUtils::toRaftPeer).toList();
      return RatisTypes.peers(peers);
    } catch (IOException | RuntimeException unknown) {
      return List.of();
    }
  }

  RaftRpcService rpc() {
    return rpc;
  }

  @Override
  public void close() {
    transport.serveRaft(RaftReceiver.NONE);
    rpc.stopWatching();
    ExecutorService closer = Executors.newSingleThreadExecutor(Daemons.named("raft-close"));
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
}
