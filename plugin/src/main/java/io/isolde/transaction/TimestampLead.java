// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.config.NodeClock;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.replicated.Oracle;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/** Drives the timestamps of commits beyond those that a table has, as far as that is allowed. */
final class TimestampLead {
  private final Oracle oracle;
  private final long maxLeadMicros;

  TimestampLead(Oracle oracle, long maxLeadMicros) {
    this.oracle = oracle;
    this.maxLeadMicros = maxLeadMicros;
  }

  /**
   * All commits from now on are above a timestamp.
   *
   * @param newest of what the table has, in microseconds
   * @throws IsoldeException UNSUPPORTED_TABLE if that is too far in the future
   */
  void pass(TableMetadata table, long newest) {
    long now = oracle.stable();
    if (newest > now) {
      now = oracle.next(); // The newest snapshot stands still while nobody begins anything.
    }
    requireNear(table, newest, now);
    if (newest > now) {
      oracle.advanceTo(newest);
    }
  }

  /**
   * Refuses timestamps that are too far in the future: what is driven beyond them never comes back.
   *
   * @param newest of what the table has, in microseconds
   * @param now what counts as the present, in microseconds
   * @throws IsoldeException UNSUPPORTED_TABLE
   */
  void requireNear(TableMetadata table, long newest, long now) {
    if (newest > now + maxLeadMicros) {
      throw IsoldeException.of(
          ErrorCode.UNSUPPORTED_TABLE,
          "The table "
              + table
              + " has data from the future, at "
              + newest
              + " microseconds; new commits would lose against it. Wait for that time, or raise"
              + " max_timestamp_lead.",
          "table",
          table,
          "newest",
          newest);
    }
  }

  /**
   * Timestamps may run ahead of the clock, after a restart or after ENABLE on data from the future.
   * Plain writes, which come with the time of their clients, would lose against what is there. This
   * waits until they don't.
   *
   * @throws IsoldeException UNAVAILABLE if that takes too long
   */
  void awaitWallClock(TableMetadata table, long maxWaitMillis) {
    long leadMillis = oracle.next() / 1000 + 1 - NodeClock.nowMillis();
    if (leadMillis > maxWaitMillis) {
      throw IsoldeException.of(
          ErrorCode.UNAVAILABLE,
          "Commits of "
              + table
              + " lie up to "
              + leadMillis
              + " ms in the future, and plain writes would lose against them. The table stays"
              + " transactional; try again after that time.",
          "table",
          table,
          "retry_after_millis",
          leadMillis);
    }
    if (leadMillis > 0) {
      try {
        Thread.sleep(leadMillis);
      } catch (InterruptedException e) {
        throw new UncheckedInterruptedException(e);
      }
    }
  }
}
