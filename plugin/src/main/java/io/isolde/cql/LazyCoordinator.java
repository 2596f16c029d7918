// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.IsoldeException;
import io.isolde.transaction.Coordinator;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The coordinator, started by the first statement that needs it: by then the node is up. If it
 * cannot start, statements that need it are told why; those of plain tables go on.
 */
final class LazyCoordinator {
  private static final Logger logger = LoggerFactory.getLogger(LazyCoordinator.class);

  private final Supplier<Coordinator> start;
  private volatile Coordinator started;
  private InvalidRequestException lastFailure;
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
   * that come during an attempt share its end, or they would wait for one attempt after the other
   * and keep the request threads from everything else.
   */
  private Coordinator start() {
    long sinceNanos = System.nanoTime();
    synchronized (this) {
      if (lastFailure != null && lastFailureNanos - sinceNanos > 0) {
        throw new InvalidRequestException(lastFailure.getMessage(), lastFailure);
      }
      return tryStart();
    }
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
        lastFailure =
            new InvalidRequestException(
                "Transactions can't start on this node: " + e.getMessage(), e);
        lastFailureNanos = System.nanoTime();
        throw lastFailure;
      }
    }
    return started;
  }
}
