// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.oracle;

import io.isolde.bench.kit.Pause;
import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.group.CoordinatorSession;
import io.isolde.oracle.group.OracleClient;
import io.isolde.oracle.group.OracleClientConfig;
import io.isolde.oracle.group.OracleGroupConfig;
import io.isolde.raft.Peer;
import io.isolde.raft.transport.EventLoops;
import io.isolde.raft.transport.PeerClient;
import io.isolde.raft.transport.TransportSecurity;
import io.isolde.raft.transport.TransportSettings;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/** Coordinators in this process, with a session and a connection each. */
public final class Coordinators implements AutoCloseable {
  private static final int PATIENCE_SECONDS = 60;

  private final EventLoops loops;
  private final List<OracleClient> clients = new ArrayList<>();
  private final List<CoordinatorSession> sessions = new ArrayList<>();

  /** Opens the sessions, and waits until they are. */
  public Coordinators(List<Peer> members, int count, int threads, int timeoutMillis) {
    loops = EventLoops.forClients(threads);
    List<InetSocketAddress> addresses = members.stream().map(Peer::address).toList();
    long leaseMillis = OracleGroupConfig.defaults().leaseMillis();
    for (int i = 0; i < count; i++) {
      OracleClient client =
          new OracleClient(
              OracleClientConfig.defaults().withTimeoutMillis(timeoutMillis),
              (address, onClosed) ->
                  PeerClient.connect(
                      address,
                      loops,
                      TransportSettings.defaults(),
                      TransportSecurity.none(),
                      onClosed),
              addresses);
      clients.add(client);
      sessions.add(new CoordinatorSession(client, UUID.randomUUID(), leaseMillis));
    }
  }

  /** Returns this when every session is open. */
  public Coordinators awaitOpen() {
    Pause.until(
        "all sessions are open",
        PATIENCE_SECONDS,
        () -> sessions.stream().allMatch(CoordinatorSession::isOpen));
    return this;
  }

  /** Commits and, without waiting for that, applies; the answer is whether it was committed. */
  static CompletableFuture<Boolean> commit(CoordinatorSession session, CommitRequest request) {
    return session
        .commit(request)
        .thenApply(
            decision -> {
              if (decision instanceof Decision.Committed committed) {
                var unused = session.applied(committed.commitTimestamp());
                return true;
              }
              return false;
            });
  }

  /** Returns one of the sessions; any number will do. */
  public CoordinatorSession session(int number) {
    return sessions.get(number % sessions.size());
  }

  /** Returns the connection of a session. */
  public OracleClient client(int number) {
    return clients.get(number % clients.size());
  }

  /** Returns one of the connections. */
  public OracleClient client() {
    return clients.get(0);
  }

  @Override
  public void close() {
    sessions.forEach(CoordinatorSession::close);
    clients.forEach(OracleClient::close);
    loops.close();
  }
}
