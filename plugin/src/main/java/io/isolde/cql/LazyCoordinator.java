// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.transaction.Coordinator;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The coordinator, started by the first statement that needs it: by then the node is up. If it
 * cannot start, statements that need it are told why; those of plain tables go on.
 */
final class LazyCoordinator {
  private static final Logger logger = LoggerFactory.getLogger(LazyCoordinator.class);

  private static final String CANT_START = "Transactions can't start on this node: ";

  private final Supplier<Coordinator> start;
  private volatile Coordinator started;
  private RuntimeException lastFailure;
  private long lastFailureNanos;

  LazyCoordinator(Supplier<Coordinator> start) {
    this.start = start;
  }

  /** Empty until it is started. */
  Optional<Coordinator> ifStarted() {
    return Optional.ofNullable(started);
  }

  Coordinator get() {
    Coordinator coordinator = started;
    return coordinator != null ? coordinator : start();
  }

  /**
   * Tried again with each statement, since what is in the way may be mended meanwhile. Statements
   * that come during an attempt share its end. Else they would wait for one attempt after the
   * other, and keep the request threads from everything else.
   */
  private Coordinator start() {
    long sinceNanos = System.nanoTime();
    synchronized (this) {
      if (lastFailure != null && lastFailureNanos - sinceNanos > 0) {
        throw failed(lastFailure);
      }
      return tryStart();
    }
  }

  private static IsoldeException failed(RuntimeException cause) {
    IsoldeException failed =
        cause instanceof IsoldeException known
            ? IsoldeException.of(known.errorCode(), CANT_START + known.sentence())
            : IsoldeException.of(
                ErrorCode.UNAVAILABLE,
                CANT_START + cause.getMessage() + " Its log tells why; nothing was done.");
    failed.addSuppressed(cause);
    return failed;
  }

  private Coordinator tryStart() {
    if (started == null) {
      try {
        started = start.get();
      } catch (RuntimeException e) {
        if (e instanceof IsoldeException known && known.errorCode().isRetryable()) {
          logger.warn("Transactions can't start on this node yet: {}", e.getMessage());
        } else {
          logger.error("Transactions can't start on this node.", e);
        }
        lastFailure = e;
        lastFailureNanos = System.nanoTime();
        throw failed(e);
      }
    }
    return started;
  }
}
