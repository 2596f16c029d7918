// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finishes what a coordinator may have left. The log of a keyspace's first group decides whether a
 * table is truncated, and the coordinator then asks the other groups. In case that it has died,
 * whoever leads the first group asks them again a moment later. That does no harm.
 */
final class TruncationFinish {
  private static final Logger logger = LoggerFactory.getLogger(TruncationFinish.class);

  /** Of more tables, coordinators are on their own. */
  private static final int MAX_TABLES = 1_024;

  private static final int ATTEMPTS = 12;
  private static final long FIRST_PAUSE_MILLIS = 2_000;
  private static final long MAX_PAUSE_MILLIS = 60_000;

  private final Groups groups;
  private final Timer timer;

  /** The last truncation of each table: it removes what an earlier one does, too. */
  private final Map<TableId, Payload.Truncation> underWay = new ConcurrentHashMap<>();

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
    if (underWay.size() < MAX_TABLES || underWay.containsKey(truncation.table())) {
      underWay.put(truncation.table(), truncation);
      later(truncation, 0);
    }
  }

  private void later(Payload.Truncation truncation, int attempt) {
    TableId table = truncation.table();
    if (attempt == ATTEMPTS
        || Schema.instance.getTableMetadata(table) == null
        || !isLast(truncation)) {
      underWay.remove(table, truncation);
      return;
    }
    timer.after(
        Math.min(FIRST_PAUSE_MILLIS << attempt, MAX_PAUSE_MILLIS),
        () -> tryToFinish(truncation, attempt));
  }

  private boolean isLast(Payload.Truncation truncation) {
    return truncation.equals(underWay.get(truncation.table()));
  }

  private void tryToFinish(Payload.Truncation truncation, int attempt) {
    CompletableFuture<?> asked;
    try {
      if (!isLast(truncation) || !groups.isFirstLedHere()) {
        later(truncation, attempt + 1); // Who leads it does it, unless that node dies.
        return;
      }
      asked = groups.truncate(truncation);
    } catch (RuntimeException e) {
      tried(truncation, attempt, e);
      return;
    }
    var unused = asked.whenComplete((done, failure) -> tried(truncation, attempt, failure));
  }

  private void tried(Payload.Truncation truncation, int attempt, Throwable failure) {
    if (failure == null) {
      underWay.remove(truncation.table(), truncation);
      logger.info(
          "TRUNCATE of the table {} is in the logs of all replica groups", truncation.table());
    } else {
      logger.warn(
          "TRUNCATE of the table {} has no answer yet of all replica groups of its keyspace. {}",
          truncation.table(),
          attempt + 1 < ATTEMPTS
              ? "They are asked again."
              : "They are not asked again: send TRUNCATE again.",
          failure);
      later(truncation, attempt + 1);
    }
  }

  /** For tests. */
  int tables() {
    return underWay.size();
  }
}
