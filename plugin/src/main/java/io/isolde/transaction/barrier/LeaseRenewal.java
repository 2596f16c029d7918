// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.barrier;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the leases of a closed barrier while a change of a table is under way, on all nodes that
 * are up then. A node that starts meanwhile closes its barrier before it serves clients, as
 * Cassandra waits for gossip to settle.
 */
final class LeaseRenewal implements AutoCloseable {
  private static final Logger logger = LoggerFactory.getLogger(LeaseRenewal.class);
  private static final long PERIOD_MILLIS = 2_000;

  private static final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          new ThreadFactoryBuilder()
              .setNameFormat("isolde-barrier-leases")
              .setDaemon(true)
              .build());

  private final Supplier<Set<String>> nodes;
  private final Consumer<String> renew;
  private final ScheduledFuture<?> running;

  private LeaseRenewal(Supplier<Set<String>> nodes, Consumer<String> renew) {
    this.nodes = nodes;
    this.renew = renew;
    this.running =
        timer.scheduleWithFixedDelay(
            this::renewAll, PERIOD_MILLIS, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
  }

  /**
   * Begins.
   *
   * @param renew sends a request to a node, and does not wait for the answer: the next one comes
   *     long before the lease ends
   */
  static LeaseRenewal start(Supplier<Set<String>> nodes, Consumer<String> renew) {
    return new LeaseRenewal(nodes, renew);
  }

  private void renewAll() {
    try {
      for (String node : nodes.get()) {
        renew.accept(node);
      }
    } catch (RuntimeException e) { // Else it would be the last time.
      logger.warn("Barriers of a table could not be renewed, and are tried again", e);
    }
  }

  @Override
  public void close() {
    running.cancel(false);
  }
}
