// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.isolde.raft.transport.TransportException.Reason;
import io.netty.buffer.ByteBuf;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Both ends of a node's connection to itself, without a socket: requests are handled on the thread
 * that sends them. Answers are told on an event loop, as those of a socket are, since whoever gives
 * or awaits one may hold locks.
 */
final class LocalConnection implements PeerConnection, PeerClient {
  private final ApplicationHandler server;
  private final InetSocketAddress address;
  private final Executor loop;
  private final int maxInFlight;
  private final Runnable onClosed;
  private final AtomicLong requestIds = new AtomicLong();

  /** Requests without an answer; at most {@link #maxInFlight}. */
  private final Map<Long, ResponseHandler> waiting = new ConcurrentHashMap<>();

  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicBoolean isClosed = new AtomicBoolean();

  /**
   * @param loop tells answers in their order
   * @param onClosed called once there, when it is closed
   */
  LocalConnection(
      ApplicationHandler server,
      InetSocketAddress address,
      Executor loop,
      int maxInFlight,
      Runnable onClosed) {
    this.server = server;
    this.address = address;
    this.loop = loop;
    this.maxInFlight = maxInFlight;
    this.onClosed = onClosed;
  }

  @Override
  public void send(byte service, ByteBuf body, ResponseHandler handler) {
    if (inFlight.incrementAndGet() > maxInFlight) {
      inFlight.decrementAndGet();
      body.release();
      handler.onFailure(
          new TransportException(
              Reason.BUSY, "More than " + maxInFlight + " requests wait for an answer."));
      return;
    }
    long id = requestIds.incrementAndGet();
    waiting.put(id, handler);
    if (isClosed.get()) {
      body.release();
      failed(id, closed());
      return;
    }
    server.onRequest(this, service, id, body);
  }

  private static TransportException closed() {
    return new TransportException(Reason.CLOSED, "The connection is closed.");
  }

  @Override
  public void write(long requestId, ByteBuf body) {
    ResponseHandler handler = take(requestId);
    if (handler == null) {
      body.release();
      return;
    }
    inform(() -> handler.onResponse(body));
  }

  @Override
  public void fail(long requestId, String message) {
    failed(requestId, new TransportException(Reason.REMOTE_ERROR, message));
  }

  private void failed(long requestId, TransportException cause) {
    ResponseHandler handler = take(requestId);
    if (handler != null) {
      inform(() -> handler.onFailure(cause));
    }
  }

  /** Null if it was answered before. */
  private ResponseHandler take(long requestId) {
    ResponseHandler handler = waiting.remove(requestId);
    if (handler != null) {
      inFlight.decrementAndGet();
    }
    return handler;
  }

  private void inform(Runnable news) {
    try {
      loop.execute(news);
    } catch (RejectedExecutionException e) {
      news.run(); // The node is closing; nobody must wait for ever.
    }
  }

  @Override
  public void flush() {}

  @Override
  public boolean isWritable() {
    return true;
  }

  @Override
  public boolean isOpen() {
    return !isClosed.get();
  }

  /** No network is in between. */
  @Override
  public long unansweredMillis() {
    return 0;
  }

  @Override
  public void closeAfter(long millis) {
    close();
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return address;
  }

  @Override
  public void close() {
    if (isClosed.compareAndSet(false, true)) {
      List.copyOf(waiting.keySet()).forEach(id -> failed(id, closed()));
      server.onClosed(this);
      inform(onClosed);
    }
  }
}
