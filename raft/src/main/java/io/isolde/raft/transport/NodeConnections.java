// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * This node's connections to other nodes' ports: one to each, opened again when it is needed, or
 * when nothing comes any more on the one that is there.
 */
public final class NodeConnections implements AutoCloseable {
  /** A connection on which requests wait, and nothing came for so long, is not used for others. */
  static final long SILENT_MILLIS = 1_000;

  /** It is not closed at once: what its requests ask for may just take long. */
  private static final long LINGER_MILLIS = 60_000;

  /** How to connect to a node's port. */
  public interface Connector {
    /** As {@link PeerTransport#connect}. */
    CompletableFuture<PeerClient> connect(InetSocketAddress address, Runnable onClosed);
  }

  private final Connector connector;
  private final Consumer<InetSocketAddress> onClosed;

  /** At most one for each node that was ever asked. */
  private final Map<InetSocketAddress, KeptConnection<PeerClient>> connections =
      new ConcurrentHashMap<>();

  private volatile boolean isClosed;

  /** Connects when somebody asks. */
  public NodeConnections(Connector connector) {
    this(connector, closed -> {});
  }

  /**
   * Connects when somebody asks.
   *
   * @param onClosed hears, on an event loop, which node's connection was open and is closed
   */
  public NodeConnections(Connector connector, Consumer<InetSocketAddress> onClosed) {
    this.connector = connector;
    this.onClosed = onClosed;
  }

  /** The connection that is open or being opened; for one who sends and closes by itself. */
  public CompletableFuture<PeerClient> connection(InetSocketAddress address) {
    return kept(address).get();
  }

  /** Closes a connection on which requests wait, and nothing came for a second. */
  public void closeIfSilent(InetSocketAddress address) {
    kept(address).leaveIfSilent(SILENT_MILLIS).ifPresent(PeerClient::close);
  }

  private KeptConnection<PeerClient> kept(InetSocketAddress address) {
    KeptConnection<PeerClient> kept =
        connections.computeIfAbsent(
            address,
            key -> new KeptConnection<>(() -> connector.connect(key, () -> onClosed.accept(key))));
    if (isClosed) {
      kept.close();
    }
    return kept;
  }

  /**
   * Asks a node.
   *
   * @param message is taken over
   * @param decode as of {@link FutureResponse}
   */
  public <T> CompletableFuture<T> request(
      InetSocketAddress address, byte service, ByteBuf message, Function<ByteBuf, T> decode) {
    FutureResponse<T> answer = new FutureResponse<>(decode);
    KeptConnection<PeerClient> kept = kept(address);
    kept.leaveIfSilent(SILENT_MILLIS).ifPresent(silent -> silent.closeAfter(LINGER_MILLIS));
    var unused =
        kept.get()
            .whenComplete(
                (client, failure) -> {
                  if (failure != null || isClosed) {
                    message.release();
                    answer.completeExceptionally(TransportException.notConnected(address, failure));
                  } else {
                    client.send(service, message, answer);
                  }
                });
    return answer;
  }

  /** Whether a request would be on its way at once. */
  public boolean isConnected(InetSocketAddress address) {
    KeptConnection<PeerClient> kept = connections.get(address);
    return kept != null && kept.ifOpen().isPresent();
  }

  /** Requests without an answer fail, and no further ones are sent. */
  @Override
  public void close() {
    isClosed = true;
    connections.values().forEach(KeptConnection::close);
  }
}
