// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.Peer;
import io.isolde.raft.RaftSettings;
import io.isolde.raft.transport.Await;
import io.isolde.raft.transport.PeerTransport;
import io.isolde.raft.transport.TransportSecurity;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.util.FileUtils;

/** Nodes in this process, at 127.0.0.1, .2 and so on. */
final class TestCluster implements AutoCloseable {
  static final RaftGroupId GROUP = RaftGroupId.valueOf(new UUID(1, 2));

  private final Path directory;
  private final RaftSettings settings;
  private final TransportSecurity security;
  final List<Peer> peers = new ArrayList<>();
  final List<Member> members = new ArrayList<>();

  /** What runs of a node; null where nothing does. */
  static final class Member {
    PeerTransport transport;
    RatisNode node;
    RatisReplica replica;
    CountingStateMachine machine;

    void close() {
      if (node != null) {
        node.close();
      }
      transport.close();
    }
  }

  TestCluster(Path directory, int nodes, RaftSettings settings) throws IOException {
    this(directory, nodes, settings, TransportSecurity.none());
  }

  TestCluster(Path directory, int nodes, RaftSettings settings, TransportSecurity security)
      throws IOException {
    this.directory = directory;
    this.settings = settings;
    this.security = security;
    for (int i = 0; i < nodes; i++) {
      peers.add(newPeer(i));
      members.add(null);
    }
    for (int i = 0; i < nodes; i++) {
      start(i, peers);
    }
  }

  static Peer newPeer(int number) throws IOException {
    String host = "127.0.%s.%d".formatted(System.getProperty("isolde.test.fork", "0"), number + 1);
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(host, 0));
      return new Peer("n" + number, new InetSocketAddress(host, socket.getLocalPort()));
    }
  }

  /** Starts a node that isn't running. */
  void start(int number, List<Peer> initialMembers) throws IOException {
    Member member = new Member();
    Peer self = peers.get(number);
    member.transport = PeerTransport.builder(self.id()).security(security).listen(self.address());
    member.machine = new CountingStateMachine();
    try {
      member.node = RatisNode.start(member.transport, directory.resolve(self.id()), settings);
      member.replica = member.node.add(GROUP, initialMembers, member.machine);
    } catch (IOException e) {
      member.close();
      throw e;
    }
    members.set(number, member);
  }

  /** Adds a node that is no member yet, and starts it. */
  int startStranger() throws IOException {
    int number = peers.size();
    peers.add(newPeer(number));
    members.add(null);
    start(number, List.of());
    return number;
  }

  void stop(int number) {
    members.get(number).close();
    members.set(number, null);
  }

  /** Empties the directory of a node that isn't running. */
  void loseDisk(int number) throws IOException {
    FileUtils.deleteFully(directory.resolve(peers.get(number).id()));
  }

  /** Cuts the node off at once, as the end of its process would. */
  void kill(int number) {
    members.get(number).transport.close();
  }

  /** Lets a node neither hear nor speak until the latch is open, as if it were suspended. */
  void hang(int number, CountDownLatch until) {
    Await.hang(members.get(number).transport, until);
  }

  /** From now on no new entry gets to the node, but votes and heartbeats do. */
  void deafen(int number) {
    Member member = members.get(number);
    member.transport.serveRaft(new DeafReceiver(member.node.rpc().requests()));
  }

  /** Ends what {@link #deafen} began. */
  void letHear(int number) {
    Member member = members.get(number);
    member.transport.serveRaft(member.node.rpc().requests());
  }

  /** The number of the node that leads and is ready. */
  int awaitLeader() {
    return awaitLeaderOtherThan(-1);
  }

  int awaitLeaderOtherThan(int old) {
    int[] leader = {-1};
    await(
        () -> {
          for (int i = 0; i < members.size(); i++) {
            if (i != old && members.get(i) != null && members.get(i).replica.isLeader()) {
              leader[0] = i;
              return true;
            }
          }
          return false;
        });
    return leader[0];
  }

  RatisReplica replica(int number) {
    return members.get(number).replica;
  }

  /** The same, as other members ask it. */
  RatisMember member(int number) {
    return replica(number).member();
  }

  String propose(int number, String text) throws Exception {
    Text proposed = new Text(text);
    try {
      replica(number).propose(proposed).get(10, TimeUnit.SECONDS);
      return proposed.answer();
    } catch (ExecutionException e) {
      throw (Exception) e.getCause();
    }
  }

  /** Waits until all running nodes have applied exactly this. */
  void awaitApplied(List<String> expected) {
    for (Member member : members) {
      if (member != null) {
        await(() -> member.machine.applied().size() >= expected.size());
        assertThat(member.machine.applied()).isEqualTo(expected);
      }
    }
  }

  /** Until a leader knows without asking that it is one: its followers have just answered. */
  static void awaitSure(RatisReplica leader) {
    await(
        () -> {
          leader.barrier().orTimeout(10, TimeUnit.SECONDS).join();
          return leader.leadsForSure();
        });
  }

  static void await(BooleanSupplier condition) {
    Await.await(condition);
  }

  @Override
  public void close() {
    for (Member member : members) {
      if (member != null) {
        member.close();
      }
    }
  }
}
