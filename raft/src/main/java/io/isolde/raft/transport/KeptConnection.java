// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The one connection to a node: opened when it is needed, and again when it broke. Thread-safe. */
final class KeptConnection<C extends PeerClient> {
  /** How long a failed attempt to connect stands for the next ones. */
  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private final Supplier<CompletableFuture<C>> connect;

  /** The last attempt to connect; guarded by this. */
  private CompletableFuture<C> current;

  private long attemptedNanos;
  private boolean isClosed;

  KeptConnection(Supplier<CompletableFuture<C>> connect) {
    this.connect = connect;
  }

  /** The open connection, the one that is being opened, or the failure of a moment ago. */
  synchronized CompletableFuture<C> get() {
    boolean hasJustFailed =
        current != null
            && current.isCompletedExceptionally()
            && System.nanoTime() - attemptedNanos < RETRY_NANOS;
    return hasJustFailed ? current : probe();
  }

  /** Connects now if there is no connection, whatever happened a moment ago. */
  synchronized CompletableFuture<C> probe() {
    boolean isConnecting = current != null && !current.isDone();
    if (!isConnecting && ifOpen().isEmpty()) {
      if (isClosed) {
        return CompletableFuture.failedFuture(new IOException("The node is closed."));
      }
      attemptedNanos = System.nanoTime();
      current = connect.get();
    }
    return current;
  }

  /** The connection on which a request would be on its way at once. */
  synchronized Optional<C> ifOpen() {
    return current == null || !current.isDone() || current.isCompletedExceptionally()
        ? Optional.empty()
        : Optional.of(current.join()).filter(PeerClient::isOpen);
  }

  /**
   * Takes out the connection if requests have waited so long and nothing at all has come. It is of
   * no use then: after a network failure TCP repeats what it sent at ever longer intervals, of many
   * seconds when the network has long been well again.
   *
   * @return what the caller is to close
   */
  synchronized Optional<C> leaveIfSilent(long millis) {
    Optional<C> silent = ifOpen().filter(open -> open.unansweredMillis() >= millis);
    if (silent.isPresent()) {
      current = null;
    }
    return silent;
  }

  synchronized void close() {
    isClosed = true;
    if (current != null) {
      var unused = current.thenAccept(PeerClient::close);
    }
  }
}
