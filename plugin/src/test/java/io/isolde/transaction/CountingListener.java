// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts who was in doubt, and hears of nothing else. */
record CountingListener(AtomicInteger inDoubts) implements TransactionListener {
  @Override
  public void begun(long nanos) {}

  @Override
  public void committed(long nanos) {}

  @Override
  public void applied(long nanos) {}

  @Override
  public void appliedByLeader() {}

  @Override
  public void visible(long nanos) {}

  @Override
  public void committedNothing() {}

  @Override
  public void applyPending() {}

  @Override
  public void inDoubt() {
    inDoubts.incrementAndGet();
  }

  @Override
  public void conflicted(SeenConflict conflict) {}

  @Override
  public void decidedAgain() {}

  @Override
  public void rolledBack() {}

  @Override
  public void expired() {}
}
