// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.oracle;

import io.isolde.bench.kit.Workload;
import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.group.CoordinatorSession;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Commits of transactions that read ten rows and wrote ten others at the newest snapshot that their
 * coordinator has heard of; each is applied at once, and nobody waits for that.
 */
final class CommitLoad implements Workload {
  private static final int ROWS_READ = 10;
  private static final int ROWS_WRITTEN = 10;

  private final Coordinators coordinators;
  private final LongAdder aborted = new LongAdder();
  private final AtomicInteger count = new AtomicInteger();

  CommitLoad(Coordinators coordinators) {
    this.coordinators = coordinators;
  }

  @Override
  public CompletableFuture<?> send() {
    int number = count.getAndIncrement() & Integer.MAX_VALUE;
    CoordinatorSession session = coordinators.session(number);
    KeyChooser rows = KeyChooser.uniformOfThisThread();
    CommitRequest request =
        rows.request(IsolationLevel.SERIALIZABLE, session.newestStable(), ROWS_READ, ROWS_WRITTEN);
    return Coordinators.commit(session, request)
        .thenAccept(isCommitted -> aborted.add(isCommitted ? 0 : 1));
  }

  /** Transactions that were decided, but not committed. */
  long aborted() {
    return aborted.sum();
  }
}
