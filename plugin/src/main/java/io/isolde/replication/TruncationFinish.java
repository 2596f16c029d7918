// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.cassandra.schema.Schema;

/**
 * Finishes what a coordinator may have left. The log of a keyspace's first group decides whether a
 * table is truncated, and the coordinator then asks the other groups. In case that it has died,
 * whoever leads the first group asks them again a moment later. That does no harm.
 */
final class TruncationFinish {
  private static final int MAX_UNDER_WAY = 1_024;
  private static final int ATTEMPTS = 12;
  private static final long FIRST_PAUSE_MILLIS = 2_000;
  private static final long MAX_PAUSE_MILLIS = 60_000;

  private final Groups groups;
  private final Timer timer;

  /** With more than {@link #MAX_UNDER_WAY}, coordinators are on their own. */
  private final AtomicInteger underWay = new AtomicInteger();

  /** The groups of a keyspace. */
  interface Groups {
    /** Whether this node leads the first one. */
    boolean isFirstLedHere();

    /** Asks all of them; fails if one may not have done it. Does not block. */
    CompletableFuture<?> truncate(Payload.Truncation truncation);
  }

  /** Runs something later. */
  interface Timer {
    void after(long millis, Runnable task);
  }

  TruncationFinish(Groups groups, Timer timer) {
    this.groups = groups;
    this.timer = timer;
  }

  /** The first group has just truncated a table here, as its leader or as a follower. */
  void later(Payload.Truncation truncation) {
    if (underWay.incrementAndGet() > MAX_UNDER_WAY) {
      underWay.decrementAndGet();
    } else {
      later(truncation, 0);
    }
  }

  private void later(Payload.Truncation truncation, int attempt) {
    if (attempt == ATTEMPTS || Schema.instance.getTableMetadata(truncation.table()) == null) {
      underWay.decrementAndGet();
      return;
    }
    timer.after(
        Math.min(FIRST_PAUSE_MILLIS << attempt, MAX_PAUSE_MILLIS),
        () -> {
          if (!groups.isFirstLedHere()) {
            later(truncation, attempt + 1); // Who leads it does it, unless that node dies.
            return;
          }
          var unused =
              groups
                  .truncate(truncation)
                  .whenComplete(
                      (done, failure) ->
                          later(truncation, failure == null ? ATTEMPTS : attempt + 1));
        });
  }
}
