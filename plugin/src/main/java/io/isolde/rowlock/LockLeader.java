// SPDX-License-Identifier: Apache-2.0
package io.isolde.rowlock;

import io.isolde.oracle.lock.LockTable;
import io.isolde.peers.Peers;
import io.isolde.raft.transport.ApplicationHandler;
import io.isolde.raft.transport.NodeConnections;
import io.isolde.raft.transport.PeerConnection;
import io.isolde.replicated.OracleHost;
import io.isolde.rowlock.LockMessages.Granted;
import io.netty.buffer.ByteBuf;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The node that keeps the locks, wherever it is; and this node's part of it, if it is this one. */
final class LockLeader {
  private static final byte SERVICE = Peers.Service.ROW_LOCKS.number();

  /** A leader that is later than this hangs. */
  private static final int MAX_LATE_MILLIS = 1_000;

  private final Supplier<Optional<OracleHost>> host;
  private final ScheduledExecutorService thread;
  private final NodeConnections connections;
  private final LockServer server;

  LockLeader(Supplier<Optional<OracleHost>> host, ScheduledExecutorService thread) {
    this.host = host;
    this.thread = thread;
    this.connections =
        new NodeConnections(
            (address, onClosed) -> host.get().orElseThrow().transport().connect(address, onClosed));
    this.server =
        new LockServer(
            () -> host.get().map(node -> node.node().isServing()).orElse(false),
            () -> host.get().flatMap(node -> node.node().changes()),
            thread);
  }

  void serve() {
    host.get().ifPresent(node -> node.transport().serve(SERVICE, new Handler()));
  }

  /** Does what is to be done from time to time, if this node leads. */
  void tick() {
    server.tick();
  }

  List<LockTable.Entry> entries() {
    return server.entries();
  }

  /**
   * Sends a message, behind those that were sent before. Completes with nothing if nobody leads;
   * fails if the leader does not answer.
   */
  CompletableFuture<Optional<Granted>> send(LockMessages.Message message, int waitMillis) {
    Optional<OracleHost> node = host.get();
    if (node.isPresent() && node.get().node().isServing()) {
      return server.answer(message).orTimeout(waitMillis + MAX_LATE_MILLIS, TimeUnit.MILLISECONDS);
    }
    Optional<InetSocketAddress> leader = node.flatMap(here -> here.client().leader());
    return leader.isEmpty()
        ? CompletableFuture.completedFuture(Optional.empty())
        : connections
            .request(leader.get(), SERVICE, LockMessages.of(message), LockMessages::granted)
            .orTimeout(waitMillis + MAX_LATE_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Answers other nodes. */
  private final class Handler implements ApplicationHandler {
    @Override
    public void onRequest(PeerConnection from, byte service, long requestId, ByteBuf body) {
      try {
        LockMessages.Message message = LockMessages.message(body);
        // A node has few questions at a time: those that may wait there, and what it renews.
        thread.execute(() -> tryToAnswer(message, from, requestId));
      } catch (RuntimeException e) {
        from.fail(requestId, "The lock can't be asked for: " + e.getMessage());
      } finally {
        body.release();
      }
    }

    private void tryToAnswer(LockMessages.Message message, PeerConnection from, long requestId) {
      try {
        var unused =
            server
                .answer(message)
                .whenComplete(
                    (granted, failure) ->
                        from.respond(
                            requestId,
                            failure == null && granted.isPresent()
                                ? LockMessages.of(granted.get())
                                : LockMessages.notLeader()));
      } catch (RuntimeException e) {
        from.fail(requestId, "The lock can't be asked for: " + e);
      }
    }
  }
}
