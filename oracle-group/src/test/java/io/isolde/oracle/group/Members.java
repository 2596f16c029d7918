// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.EventLoops;
import io.isolde.raft.Peer;
import io.isolde.raft.PeerClient;
import io.isolde.raft.TransportSecurity;
import io.isolde.raft.TransportSettings;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** A few members in this process, each on an address of its own, and clients of theirs. */
final class Members implements AutoCloseable {
  private static final long PATIENCE_MILLIS = 30_000;

  private final OracleGroupConfig config;
  private final Path directory;
  private final List<Peer> founders = new ArrayList<>();
  private final Map<String, OracleNode> nodes = new HashMap<>();
  private final List<AutoCloseable> clients = new ArrayList<>();
  private final EventLoops loops = EventLoops.forClients(1);

  Members(OracleGroupConfig config, Path directory, int count) throws IOException {
    this.config = config;
    this.directory = directory;
    for (int i = 1; i <= count; i++) {
      founders.add(peer(i));
    }
  }

  static Peer peer(int number) throws IOException {
    String address = "127.0.0." + number;
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(new InetSocketAddress(address, 0));
      return new Peer("member" + number, (InetSocketAddress) socket.getLocalSocketAddress());
    }
  }

  Members startAll() throws IOException {
    for (Peer founder : founders) {
      start(founder);
    }
    await("somebody serves", () -> nodes.values().stream().anyMatch(OracleNode::isServing));
    return this;
  }

  OracleNode start(Peer peer) throws IOException {
    OracleNode node =
        OracleNode.start(
            config,
            "test",
            peer,
            founders,
            directory.resolve(peer.id()),
            UnaryOperator.identity(),
            Clock.systemUTC());
    nodes.put(peer.id(), node);
    return node;
  }

  void stop(Peer peer) {
    nodes.remove(peer.id()).close();
  }

  List<Peer> founders() {
    return founders;
  }

  Path directoryOf(Peer peer) {
    return directory.resolve(peer.id());
  }

  OracleNode node(Peer peer) {
    return nodes.get(peer.id());
  }

  Peer leader() {
    await("there is a leader", () -> founders.stream().anyMatch(this::isServing));
    return founders.stream().filter(this::isServing).findFirst().orElseThrow();
  }

  private boolean isServing(Peer peer) {
    OracleNode node = nodes.get(peer.id());
    return node != null && node.isServing();
  }

  OracleClient client() {
    OracleClient client =
        new OracleClient(
            OracleClientConfig.defaults().withTimeoutMillis(20_000),
            (address, onClosed) ->
                PeerClient.connect(
                    address,
                    loops,
                    TransportSettings.defaults(),
                    TransportSecurity.none(),
                    onClosed),
            founders.stream().map(Peer::address).toList());
    clients.add(client);
    return client;
  }

  CoordinatorSession session() {
    CoordinatorSession session =
        new CoordinatorSession(client(), UUID.randomUUID(), config.leaseMillis());
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
    nodes.values().parallelStream().forEach(OracleNode::close);
    loops.close();
  }
}
