// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.util.List;
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
    oracle = new StatusOracle(config);
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
    long[] reads = level == IsolationLevel.SERIALIZABLE ? rows : ids();
    return new CommitRequest(id, level, start, reads, rows, rows);
  }

  static CommitRequest blindWrite(UUID id, long start, long... rows) {
    return new CommitRequest(id, IsolationLevel.SERIALIZABLE, start, ids(), rows, rows);
  }

  /** A start timestamp as a leader gives it: it follows the clock while nothing holds it back. */
  static long begin(StatusOracle oracle, long nowMicros) {
    if (oracle.stable() == oracle.lastIssued()) {
      oracle.advanceTo(Math.min(nowMicros, oracle.reservedUntil()));
    }
    return oracle.stable();
  }

  /** Decides the only request of a transaction. */
  static Decision decide(StatusOracle oracle, CommitRequest request, long nowMicros) {
    return oracle.commit(request, PendingCommit.NO_SESSION, 0, nowMicros, false);
  }

  /** The commits of a session that are decided but not applied. */
  static List<PendingCommit> pendingOf(StatusOracle oracle, long session) {
    return oracle.pendingCommits().stream().filter(commit -> commit.session() == session).toList();
  }

  /** Commits a blind write of rows, which nothing can conflict with, and leaves it pending. */
  long commit(long nowMicros, long... rows) {
    return timestampOf(decide(oracle, blindWrite(transaction(), oracle.stable(), rows), nowMicros));
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
