// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.oracle.SetAsideCommits;
import io.isolde.oracle.replica.Orphan;
import io.isolde.peers.SchemaAgreement;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finishes what coordinators had decided that died before it was applied. Runs on the node where
 * the oracle leads. Whoever else applies the same commit, the coordinator itself if it was only cut
 * off, writes the same cells with the same timestamps.
 */
public final class Recovery {
  private static final Logger logger = LoggerFactory.getLogger(Recovery.class);
  private static final long INTERVAL_MILLIS = 100;

  /** So many are tried side by side, so that those that are stuck don't hold up the others. */
  private static final int MOST_AT_ONCE = 64;

  /** Between two attempts at the same commit: others come to their turn. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

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

  /** Said once what keeps them; forgotten when they are no orphans any more. */
  private final Set<Long> complainedOf = new HashSet<>();

  /** Those that are being applied, by commit timestamp. At most {@link #MOST_AT_ONCE}. */
  private final Set<Long> underWay = ConcurrentHashMap.newKeySet();

  /** When those that were tried may be tried again; forgotten when they are no orphans any more. */
  private final Map<Long, Long> restUntilNanos = new ConcurrentHashMap<>();

  private final BooleanSupplier isSchemaCurrent;

  /**
   * @param isSchemaCurrent whether this node knows every table that a living one knows; if not, it
   *     learns it before long
   */
  Recovery(
      Supplier<List<Orphan>> orphans,
      MutationApplier applier,
      Oracle oracle,
      BooleanSupplier isSchemaCurrent) {
    this.orphans = orphans;
    this.applier = applier;
    this.oracle = oracle;
    this.isSchemaCurrent = isSchemaCurrent;
  }

  /**
   * Starts finishing; to be called once. It does not need the node to coordinate transactions
   * itself: others wait for what is left here.
   *
   * @param orphans to be finished here; none unless the oracle leads here
   * @param strong the tables of strong keyspaces
   */
  public static void start(Supplier<List<Orphan>> orphans, StrongTables strong, Oracle oracle) {
    Recovery recovery =
        new Recovery(
            orphans, new MutationApplier(strong, false), oracle, SchemaAgreement::hasBeenReached);
    var unused =
        recovery.thread.scheduleWithFixedDelay(
            recovery::finishAll, INTERVAL_MILLIS, INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Tries each of them once that is not resting. */
  void finishAll() {
    try {
      List<Orphan> left = orphans.get();
      Set<Long> timestamps =
          left.stream()
              .map(orphan -> orphan.commit().commitTimestamp())
              .collect(Collectors.toSet());
      complainedOf.retainAll(timestamps);
      restUntilNanos.keySet().retainAll(timestamps);
      // In the order of their timestamps, so that one finds applied what it must come after.
      left.forEach(this::tryToFinish);
    } catch (RuntimeException e) {
      logger.error("Finishing the commits of dead coordinators failed; it is tried again.", e);
    }
  }

  /** One that can't be finished must not hold up the others. */
  private void tryToFinish(Orphan orphan) {
    try {
      finish(orphan);
    } catch (RuntimeException e) {
      long commitTimestamp = orphan.commit().commitTimestamp();
      rest(commitTimestamp);
      logger.error(
          "Finishing the commit at {} of a dead coordinator failed; it is tried again.",
          commitTimestamp,
          e);
    }
  }

  private void finish(Orphan orphan) {
    long commitTimestamp = orphan.commit().commitTimestamp();
    if (orphan.writeSet().length == 0) {
      complain(orphan, "its coordinator died and left no writes.");
      return;
    }
    if (!mayBeTried(commitTimestamp) || orphan.applyAfter() > oracle.stableSoFar()) {
      return;
    }
    WriteSetCodec.Decoded writes = WriteSetCodec.decode(orphan.writeSet());
    if (isWhole(orphan, writes) && isItsTurn(orphan, writes.updates())) {
      apply(orphan, writes.updates());
    }
  }

  /**
   * What this node does not know may have been dropped, and then nobody misses it; or this node was
   * down when it was created, and without it a part of the commit would be lost.
   */
  private boolean isWhole(Orphan orphan, WriteSetCodec.Decoded writes) {
    if (writes.unknownTables().isEmpty() && writes.unknownColumns().isEmpty()) {
      return true;
    }
    if (isSchemaCurrent.getAsBoolean() && writes.unknownColumns().isEmpty()) {
      logger.info(
          "A part of the commit at {} is left out, since its table is gone: {}",
          orphan.commit().commitTimestamp(),
          writes.unknownTables());
      return true;
    }
    complain(
        orphan,
        "this node has not heard yet of tables or columns of it: "
            + writes.unknownTables()
            + writes.unknownColumns());
    rest(orphan.commit().commitTimestamp());
    return false;
  }

  private void complain(Orphan orphan, String why) {
    if (complainedOf.add(orphan.commit().commitTimestamp())) {
      logger.error(
          "The commit {} at {} of a coordinator that is gone can't be finished: {}",
          orphan.commit().transactionId(),
          orphan.commit().commitTimestamp(),
          why);
    }
  }

  private void rest(long commitTimestamp) {
    restUntilNanos.put(commitTimestamp, System.nanoTime() + PAUSE_NANOS);
  }

  private boolean mayBeTried(long commitTimestamp) {
    Long restUntil = restUntilNanos.get(commitTimestamp);
    return underWay.size() < MOST_AT_ONCE
        && !underWay.contains(commitTimestamp)
        && (restUntil == null || System.nanoTime() - restUntil >= 0);
  }

  /** Whether what it replaces is applied. */
  private boolean isItsTurn(Orphan orphan, List<PartitionUpdate> updates) {
    SetAsideCommits setAside = oracle.setAside();
    return setAside.isEmpty()
        || setAside.find(WriteSet.of(updates).overwrites(), orphan.applyAfter()).isEmpty();
  }

  private void apply(Orphan orphan, List<PartitionUpdate> updates) {
    long commitTimestamp = orphan.commit().commitTimestamp();
    List<Mutation> mutations = Stamp.mutations(updates, commitTimestamp);
    underWay.add(commitTimestamp);
    var unused =
        applier
            .attempt(mutations)
            .whenComplete(
                (isApplied, never) -> {
                  rest(commitTimestamp);
                  underWay.remove(commitTimestamp);
                  if (Boolean.TRUE.equals(isApplied)) {
                    tellApplied(orphan);
                  }
                });
  }

  private void tellApplied(Orphan orphan) {
    long commitTimestamp = orphan.commit().commitTimestamp();
    logger.info(
        "The commit {} at {} of a coordinator that is gone is finished.",
        orphan.commit().transactionId(),
        commitTimestamp);
    var unused = oracle.applied(commitTimestamp);
  }
}
