// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.util.UUID;

/** An oracle with a far reservation, and short forms of what the tests do with it. */
final class OracleFixture {
  static final OracleConfig CONFIG =
      OracleConfig.defaults().withMaxRows(1000).withMaxOutcomes(1000);

  final StatusOracle oracle;
  private long transactions;

  OracleFixture() {
    this(CONFIG);
  }

  OracleFixture(OracleConfig config) {
    oracle = new StatusOracle(config, 0);
    oracle.reserve(1_000_000_000);
  }

  UUID transaction() {
    return new UUID(1, ++transactions);
  }

  static long[] ids(long... ids) {
    return ids;
  }

  /** Reads, overwrites and writes the same rows. */
  static CommitRequest update(UUID id, IsolationLevel level, long start, long... rows) {
    return new CommitRequest(id, level, start, rows, rows, rows);
  }

  static CommitRequest blindWrite(UUID id, long start, long... rows) {
    return new CommitRequest(id, IsolationLevel.SERIALIZABLE, start, ids(), rows, rows);
  }

  /** Commits a blind write of rows, which nothing can conflict with, and leaves it pending. */
  long commit(long nowMicros, long... rows) {
    return timestampOf(oracle.commit(blindWrite(transaction(), oracle.stable(), rows), nowMicros));
  }

  long commitAndApply(long nowMicros, long... rows) {
    long timestamp = commit(nowMicros, rows);
    oracle.applied(timestamp);
    return timestamp;
  }

  static long timestampOf(Decision decision) {
    return ((Decision.Committed) decision).commitTimestamp();
  }

  static Conflict conflictOf(Decision decision) {
    return ((Decision.Aborted) decision).conflict();
  }
}
