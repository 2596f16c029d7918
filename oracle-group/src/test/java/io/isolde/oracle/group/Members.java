// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.Peer;
import io.isolde.raft.transport.EventLoops;
import io.isolde.raft.transport.PeerClient;
import io.isolde.raft.transport.TransportSecurity;
import io.isolde.raft.transport.TransportSettings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** A few members in this process, each on an address of its own, and clients of theirs. */
final class Members implements AutoCloseable {
  private static final long PATIENCE_MILLIS = 30_000;

  private final OracleGroupConfig config;
  private final Path directory;
  private final List<Peer> initialMembers = new ArrayList<>();
  private final Map<String, OracleNode> nodes = new ConcurrentHashMap<>();
  private final List<AutoCloseable> clients = new ArrayList<>();
  private final List<Thread> ending = new ArrayList<>();
  private final EventLoops loops = EventLoops.forClients(1);
  private int strangers;

  Members(OracleGroupConfig config, Path directory, int count) throws IOException {
    this.config = config;
    this.directory = directory;
    for (int i = 1; i <= count; i++) {
      initialMembers.add(peer(i));
    }
  }

  /**
   * Elections that are over sooner than in earnest; only new leaders set commits aside; and what is
   * saved counts at once.
   */
  static OracleGroupConfig quick() {
    OracleGroupConfig config =
        OracleGroupConfig.defaults().withOverdueMillis(600_000).withLogKeepMillis(0);
    return config.withRaft(config.raft().withElections(400, 800, 0.3));
  }

  static Peer peer(int number) throws IOException {
    String address = "127.0.%s.%d".formatted(System.getProperty("isolde.test.fork", "0"), number);
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(address, 0));
      return new Peer("member" + number, (InetSocketAddress) socket.getLocalSocketAddress());
    }
  }

  Members startAll() throws IOException {
    for (Peer initialMember : initialMembers) {
      start(initialMember);
    }
    await("somebody serves", () -> nodes.values().stream().anyMatch(OracleNode::isServing));
    await(
        "all have their members",
        () -> nodes.values().stream().allMatch(node -> node.status().isPresent()));
    return this;
  }

  OracleNode start(Peer peer) throws IOException {
    OracleNode node =
        OracleNode.start(
            config,
            "test",
            peer,
            initialMembers,
            OracleFiles.at(directory.resolve(peer.id())),
            UnaryOperator.identity(),
            Clock.systemUTC());
    nodes.put(peer.id(), node);
    return node;
  }

  void stop(Peer peer) {
    nodes.remove(peer.id()).close();
  }

  /** Drops all connections of a member at once, as the end of its process would. */
  void kill(Peer peer) {
    OracleNode node = nodes.remove(peer.id());
    node.transport().close();
    Thread thread = new Thread(node::close, "ending-" + peer.id());
    thread.start();
    ending.add(thread);
  }

  /** Adds a node that is no member yet, and starts it. */
  Peer startStranger() throws IOException {
    Peer stranger = peer(initialMembers.size() + 10 + strangers++);
    start(stranger);
    return stranger;
  }

  /** Until what was killed has let go of its directory. */
  void awaitEnds() throws InterruptedException {
    for (Thread thread : ending) {
      thread.join();
    }
    ending.clear();
  }

  void stopAll() {
    List.copyOf(nodes.values()).parallelStream().forEach(OracleNode::close);
    nodes.clear();
  }

  /** The members that run and do not lead. */
  List<Peer> followers() {
    Peer leader = leader();
    return initialMembers.stream()
        .filter(peer -> nodes.containsKey(peer.id()) && !peer.equals(leader))
        .toList();
  }

  List<Peer> initialMembers() {
    return initialMembers;
  }

  Path directoryOf(Peer peer) {
    return directory.resolve(peer.id());
  }

  OracleNode node(Peer peer) {
    return nodes.get(peer.id());
  }

  Peer leader() {
    await("there is a leader", () -> initialMembers.stream().anyMatch(this::isServing));
    return initialMembers.stream().filter(this::isServing).findFirst().orElseThrow();
  }

  private boolean isServing(Peer peer) {
    OracleNode node = nodes.get(peer.id());
    return node != null && node.isServing();
  }

  OracleClient client() {
    return client(20_000);
  }

  OracleClient client(long timeoutMillis) {
    return client(timeoutMillis, initialMembers);
  }

  OracleClient client(long timeoutMillis, List<Peer> known) {
    OracleClient client =
        new OracleClient(
            OracleClientConfig.defaults().withTimeoutMillis(timeoutMillis),
            this::connect,
            known.stream().map(Peer::address).toList());
    clients.add(client);
    return client;
  }

  CompletableFuture<PeerClient> connect(InetSocketAddress address, Runnable onClosed) {
    return PeerClient.connect(
        address, loops, TransportSettings.defaults(), TransportSecurity.none(), onClosed);
  }

  CoordinatorSession session() {
    return session(UUID.randomUUID());
  }

  CoordinatorSession session(UUID coordinator) {
    CoordinatorSession session =
        new CoordinatorSession(client(), coordinator, config.leaseMillis());
    clients.add(session);
    await("a session is open", session::isOpen);
    return session;
  }

  static void await(String what, BooleanSupplier condition) {
    long deadline = System.currentTimeMillis() + PATIENCE_MILLIS;
    while (!condition.getAsBoolean()) {
      if (System.currentTimeMillis() > deadline) {
        throw new AssertionError("Waited in vain until " + what + ".");
      }
      try {
        Thread.sleep(10);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  @Override
  public void close() throws Exception {
    for (int i = clients.size() - 1; i >= 0; i--) {
      clients.get(i).close();
    }
    stopAll();
    awaitEnds();
    loops.close();
  }
}
