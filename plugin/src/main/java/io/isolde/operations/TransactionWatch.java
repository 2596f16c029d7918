// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import com.codahale.metrics.Counter;
import com.codahale.metrics.Timer;
import io.isolde.oracle.Conflict;
import io.isolde.transaction.SeenConflict;
import io.isolde.transaction.TransactionListener;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Counts what becomes of this node's transactions, and remembers their last conflicts. */
final class TransactionWatch implements TransactionListener {
  private final RecentItems<SeenConflict> conflicts;
  private final Timer starts = IsoldeMetric.BEGIN_LATENCY.timer();
  private final Timer commits = IsoldeMetric.COMMIT_LATENCY.timer();
  private final Timer applies = IsoldeMetric.APPLY_LATENCY.timer();
  private final Timer waits = IsoldeMetric.STABLE_WAIT.timer();
  private final Counter begun = IsoldeMetric.BEGUN.counter();
  private final Counter committed = IsoldeMetric.COMMITTED.counter();
  private final Counter appliedByLeader = IsoldeMetric.APPLIED_BY_LEADER.counter();
  private final Counter applyPending = IsoldeMetric.APPLY_PENDING.counter();
  private final Counter inDoubt = IsoldeMetric.IN_DOUBT.counter();
  private final Counter decidedAgain = IsoldeMetric.DECIDED_AGAIN.counter();
  private final Counter rolledBack = IsoldeMetric.ROLLED_BACK.counter();
  private final Counter expired = IsoldeMetric.EXPIRED.counter();
  private final Map<Conflict.Kind, Counter> aborted =
      new EnumMap<>(
          Map.of(
              Conflict.Kind.READ_WRITE, IsoldeMetric.ABORTED_READ_WRITE.counter(),
              Conflict.Kind.WRITE_WRITE, IsoldeMetric.ABORTED_WRITE_WRITE.counter(),
              Conflict.Kind.FORGOTTEN, IsoldeMetric.ABORTED_FORGOTTEN.counter(),
              Conflict.Kind.REQUESTED, IsoldeMetric.ABORTED_REQUESTED.counter()));

  TransactionWatch(int conflictLogSize) {
    this.conflicts = new RecentItems<>(conflictLogSize);
  }

  /** The last conflicts, the newest first. */
  List<RecentItems.Numbered<SeenConflict>> conflicts() {
    return conflicts.newestFirst();
  }

  @Override
  public void begun(long nanos) {
    begun.inc();
    starts.update(nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void committed(long nanos) {
    committed.inc();
    commits.update(nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void applied(long nanos) {
    applies.update(nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void appliedByLeader() {
    appliedByLeader.inc();
  }

  @Override
  public void visible(long nanos) {
    waits.update(nanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void committedNothing() {
    committed.inc();
  }

  @Override
  public void applyPending() {
    committed.inc();
    applyPending.inc();
  }

  @Override
  public void inDoubt() {
    inDoubt.inc();
  }

  @Override
  public void conflicted(SeenConflict conflict) {
    aborted.get(conflict.kind()).inc();
    conflicts.add(conflict);
  }

  @Override
  public void decidedAgain() {
    decidedAgain.inc();
  }

  @Override
  public void rolledBack() {
    rolledBack.inc();
  }

  @Override
  public void expired() {
    expired.inc();
  }
}
