// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.oracle.replica.Orphan;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.cassandra.db.Mutation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finishes what coordinators had decided that died before it was applied. Runs on the node where
 * the oracle leads. Whoever else applies the same commit, the coordinator itself if it was only cut
 * off, writes the same cells with the same timestamps.
 */
final class Recovery {
  private static final Logger logger = LoggerFactory.getLogger(Recovery.class);
  private static final long INTERVAL_MILLIS = 100;

  /** One that can't be applied now must not hold up the others for longer; it comes again. */
  private static final long ATTEMPT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Supplier<List<Orphan>> orphans;
  private final MutationApplier applier;
  private final Oracle oracle;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          task -> {
            Thread recovery = new Thread(task, "isolde-recovery");
            recovery.setDaemon(true);
            return recovery;
          });

  /** Said once that they have no writes; forgotten when they are no orphans any more. */
  private final Set<Long> hopeless = new HashSet<>();

  /**
   * @param orphans to be finished here; none unless the oracle leads here
   */
  Recovery(Supplier<List<Orphan>> orphans, MutationApplier applier, Oracle oracle) {
    this.orphans = orphans;
    this.applier = applier;
    this.oracle = oracle;
  }

  void start() {
    var unused =
        thread.scheduleWithFixedDelay(
            this::finishAll, INTERVAL_MILLIS, INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void finishAll() {
    try {
      List<Orphan> left = orphans.get();
      hopeless.retainAll(left.stream().map(orphan -> orphan.commit().commitTimestamp()).toList());
      // In the order of their timestamps, so that one finds applied what it must come after.
      left.forEach(this::finish);
    } catch (RuntimeException e) {
      logger.error("Finishing the commits of dead coordinators failed; it is tried again.", e);
    }
  }

  private void finish(Orphan orphan) {
    long commitTimestamp = orphan.commit().commitTimestamp();
    if (orphan.writeSet().length == 0) {
      if (hopeless.add(commitTimestamp)) {
        logger.error(
            "The commit {} at {} can't be finished: its coordinator died and left no writes.",
            orphan.commit().transactionId(),
            commitTimestamp);
      }
      return;
    }
    if (orphan.applyAfter() > oracle.stableSoFar()) {
      return;
    }
    List<Mutation> mutations =
        Stamp.mutations(WriteSetCodec.decode(orphan.writeSet()), commitTimestamp);
    if (applier.applyUntil(mutations, System.nanoTime() + ATTEMPT_NANOS)) {
      logger.info(
          "The commit {} at {} of a coordinator that is gone is finished.",
          orphan.commit().transactionId(),
          commitTimestamp);
      var unused = oracle.applied(commitTimestamp);
    }
  }
}
