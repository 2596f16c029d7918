// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import io.isolde.raft.transport.ApplicationHandler;
import io.isolde.raft.transport.NodeConnections;
import io.isolde.raft.transport.PeerConnection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Asks other nodes, over the oracle's port, and answers them. One connection to each node that was
 * asked, as {@link NodeConnections} keeps it.
 */
public final class Peers {

  /** Those of the oracle's port; the oracle itself is number 1. */
  public enum Service {
    SNAPSHOTS(2, "snapshots"),
    TABLE_BARRIERS(3, "tables that become transactional or are truncated"),
    COMMITS(4, "commits to apply"),
    INSTALLATIONS(5, "what runs on a node"),
    WATCHES(6, "watches"),
    ROW_LOCKS(7, "row locks"),
    PUSH(8, "watchers of nodes");

    private final byte number;
    private final String subject;

    Service(int number, String subject) {
      this.number = (byte) number;
      this.subject = subject;
    }

    /** In messages. */
    public byte number() {
      return number;
    }
  }

  private final String self;
  private final Service service;
  private final Supplier<Optional<NodePort>> port;
  private final Executor threads;
  private final Function<byte[], byte[]> answer;

  private final NodeConnections connections;

  /**
   * Makes the connections when they are needed.
   *
   * @param self the address of this node
   * @param service what the requests are about
   * @param port empty until the port is open
   * @param threads run answers; they may wait a little
   * @param answer to a request
   */
  public Peers(
      String self,
      Service service,
      Supplier<Optional<NodePort>> port,
      Executor threads,
      Function<byte[], byte[]> answer) {
    this.self = self;
    this.service = service;
    this.port = port;
    this.threads = threads;
    this.answer = answer;
    this.connections =
        new NodeConnections(
            (address, onClosed) -> port.get().orElseThrow().transport().connect(address, onClosed));
  }

  /** Lets other nodes ask this one, if the port is open. */
  public void serve() {
    port.get().ifPresent(ready -> ready.transport().serve(service.number, new ResponseSender()));
  }

  /** Asks a node; fails if it can't be reached. */
  public CompletableFuture<byte[]> ask(String node, byte[] request) {
    if (node.equals(self)) {
      try {
        return CompletableFuture.supplyAsync(() -> answer.apply(request), threads);
      } catch (RejectedExecutionException e) {
        return CompletableFuture.failedFuture(e);
      }
    }
    Optional<NodePort> ready = port.get();
    if (ready.isEmpty()) {
      return CompletableFuture.failedFuture(
          new IOException("The oracle's port is not open on this node yet."));
    }
    return connections.request(
        ready.get().addressOf(node), service.number, Unpooled.wrappedBuffer(request), Peers::bytes);
  }

  private static byte[] bytes(ByteBuf body) {
    byte[] bytes = new byte[body.readableBytes()];
    body.readBytes(bytes);
    return bytes;
  }

  private final class ResponseSender implements ApplicationHandler {
    @Override
    public void onRequest(PeerConnection from, byte number, long requestId, ByteBuf body) {
      byte[] request = bytes(body);
      body.release();
      try {
        threads.execute(() -> respond(from, requestId, request));
      } catch (RejectedExecutionException e) {
        from.fail(requestId, "This node has too many requests about " + service.subject + ".");
      }
    }

    private void respond(PeerConnection from, long requestId, byte[] request) {
      try {
        from.respond(requestId, Unpooled.wrappedBuffer(answer.apply(request)));
      } catch (RuntimeException e) {
        from.fail(requestId, "The request failed: " + e);
      }
    }
  }
}
