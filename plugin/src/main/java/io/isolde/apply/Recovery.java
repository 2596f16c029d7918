// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import io.isolde.conflict.WriteSet;
import io.isolde.oracle.InDoubtCommits;
import io.isolde.oracle.replica.UnfinishedCommit;
import io.isolde.peers.SchemaAgreement;
import io.isolde.raft.Daemons;
import io.isolde.replicated.Oracle;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finishes what coordinators had decided that died before it was applied, or that reach the oracle
 * and not the replicas: because of the network, or since their clocks are so wrong that what they
 * send is dropped as too old. Runs on the node where the oracle leads. Whoever else applies the
 * same commit, as the coordinator itself may, writes the same cells with the same timestamps.
 */
public final class Recovery {
  private static final Logger logger = LoggerFactory.getLogger(Recovery.class);
  private static final long INTERVAL_MILLIS = 100;

  /** So many are tried side by side, so that those that are stuck don't hold up the others. */
  private static final int MAX_AT_ONCE = 64;

  /** Of large ones, as bytes, or one that has more: as objects they take several times as much. */
  private static final long MAX_BYTES_AT_ONCE = 16 << 20;

  private static final long LARGE_BYTES = 1 << 20;

  /** Between two attempts at the same commit: others come to their turn. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

  /** A coordinator that lives has this much longer before others do its work. */
  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** And so much longer again for each of so many bytes. */
  private static final long BYTES_PER_GRACE = 4 << 20;

  private final Supplier<List<UnfinishedCommit>> toFinish;
  private final MutationApplier applier;
  private final Oracle oracle;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(Daemons.named("isolde-recovery"));

  /** Said once what keeps them; forgotten when they are finished. */
  private final Set<Long> complainedOf = new HashSet<>();

  /** Those that are being applied, by commit timestamp. At most {@link #MAX_AT_ONCE}. */
  private final Set<Long> underWay = ConcurrentHashMap.newKeySet();

  private final AtomicLong underWayBytes = new AtomicLong();

  /** When those that were tried may be tried again; forgotten when they are finished. */
  private final Map<Long, Long> backOffUntilNanos = new ConcurrentHashMap<>();

  private final BooleanSupplier isSchemaCurrent;

  /** Those of this round that hold what this node does not know. */
  private final Set<Long> schemaIsWanted = new HashSet<>();

  /** Those that hold nothing of which living nodes know and this one does not. */
  private final Set<Long> schemaIsKnown = new HashSet<>();

  /**
   * @param isSchemaCurrent whether this node knows every table that a living one knows; if not, it
   *     learns it before long
   */
  Recovery(
      Supplier<List<UnfinishedCommit>> toFinish,
      MutationApplier applier,
      Oracle oracle,
      BooleanSupplier isSchemaCurrent) {
    this.toFinish = toFinish;
    this.applier = applier;
    this.oracle = oracle;
    this.isSchemaCurrent = isSchemaCurrent;
  }

  /**
   * Starts finishing; to be called once. It does not need the node to coordinate transactions
   * itself: others wait for what is left here.
   *
   * @param toFinish what is to be finished here; none unless the oracle leads here
   * @param strong the tables of strong keyspaces
   */
  public static void start(
      Supplier<List<UnfinishedCommit>> toFinish, StrongTables strong, Oracle oracle) {
    Recovery recovery =
        new Recovery(
            toFinish,
            new MutationApplier(strong, OutboundQueues.none()),
            oracle,
            SchemaAgreement::hasBeenReached);
    var unused =
        recovery.thread.scheduleWithFixedDelay(
            recovery::finishAll, INTERVAL_MILLIS, INTERVAL_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Tries each of them once that is not resting. */
  void finishAll() {
    try {
      List<UnfinishedCommit> left = toFinish.get();
      Set<Long> timestamps =
          left.stream()
              .map(unfinished -> unfinished.commit().commitTimestamp())
              .collect(Collectors.toSet());
      List.of(complainedOf, schemaIsKnown, backOffUntilNanos.keySet())
          .forEach(known -> known.retainAll(timestamps));
      long nowNanos = System.nanoTime();
      // Those that were not tried for the longest time first, and then in their order.
      left.stream()
          .sorted(Comparator.comparingLong(unfinished -> backOffNanos(unfinished, nowNanos)))
          .forEach(this::tryToFinish);
      askForSchema();
    } catch (RuntimeException e) {
      logger.error("Finishing the commits of other coordinators failed; it is tried again.", e);
    }
  }

  private long backOffNanos(UnfinishedCommit unfinished, long nowNanos) {
    Long backOffUntil = backOffUntilNanos.get(unfinished.commit().commitTimestamp());
    return backOffUntil == null ? Long.MIN_VALUE : backOffUntil - nowNanos;
  }

  /** One that can't be finished must not hold up the others. */
  private void tryToFinish(UnfinishedCommit unfinished) {
    try {
      finish(unfinished);
    } catch (RuntimeException e) {
      long commitTimestamp = unfinished.commit().commitTimestamp();
      backOff(commitTimestamp);
      logger.error(
          "Finishing the commit at {} of another coordinator failed; it is tried again.",
          commitTimestamp,
          e);
    }
  }

  private void finish(UnfinishedCommit unfinished) {
    long commitTimestamp = unfinished.commit().commitTimestamp();
    if (!unfinished.isOrphan()) {
      backOffUntilNanos.putIfAbsent(commitTimestamp, System.nanoTime() + graceNanos(unfinished));
    }
    if (unfinished.writeSet().isEmpty()) {
      complain(unfinished, "its coordinator left no writes.");
      return;
    }
    if (!mayBeTried(unfinished) || unfinished.applyAfter() > oracle.stableSoFar()) {
      return;
    }
    WriteSetCodec.Decoded writes = WriteSetCodec.decode(unfinished.writeSet());
    if (!isNext(unfinished, writes.updates())) {
      if (bytes(unfinished) > LARGE_BYTES) {
        backOff(commitTimestamp); // To look again costs as much as it has rows.
      }
    } else if (isWhole(unfinished, writes)) {
      apply(unfinished, writes.updates());
    }
  }

  /** A large commit is in doubt from the beginning, and its coordinator needs longer. */
  private static long graceNanos(UnfinishedCommit unfinished) {
    return GRACE_NANOS + GRACE_NANOS * bytes(unfinished) / BYTES_PER_GRACE;
  }

  /** Small ones don't count, so that those that are stuck never keep out a large one. */
  private static long largeBytes(UnfinishedCommit unfinished) {
    long bytes = bytes(unfinished);
    return bytes > LARGE_BYTES ? bytes : 0;
  }

  private static long bytes(UnfinishedCommit unfinished) {
    return unfinished.writeSet().stream().mapToLong(part -> part.length).sum();
  }

  /**
   * What this node does not know may have been dropped, and then nobody misses it; or this node was
   * down when it was created, and without it a part of the commit would be lost.
   */
  private boolean isWhole(UnfinishedCommit unfinished, WriteSetCodec.Decoded writes) {
    long commitTimestamp = unfinished.commit().commitTimestamp();
    if (writes.unknownTables().isEmpty() && writes.unknownColumns().isEmpty()) {
      return true;
    }
    if (schemaIsKnown.contains(commitTimestamp) && writes.unknownColumns().isEmpty()) {
      logger.info(
          "A part of the commit at {} is left out, since its table is gone: {}",
          commitTimestamp,
          writes.unknownTables());
      return true;
    }
    complain(
        unfinished,
        "this node has not heard yet of tables or columns of it: "
            + writes.unknownTables()
            + writes.unknownColumns());
    schemaIsWanted.add(commitTimestamp);
    backOff(commitTimestamp);
    return false;
  }

  /**
   * Once for all that want it, and after the others, as it may take long. What it tells counts for
   * the next attempts: those decode with what this node knows then.
   */
  private void askForSchema() {
    if (!schemaIsWanted.isEmpty() && isSchemaCurrent.getAsBoolean()) {
      schemaIsKnown.addAll(schemaIsWanted);
    }
    schemaIsWanted.clear();
  }

  private void complain(UnfinishedCommit unfinished, String why) {
    if (complainedOf.add(unfinished.commit().commitTimestamp())) {
      logger.error(
          "The commit {} at {} of another coordinator can't be finished: {}",
          unfinished.commit().transactionId(),
          unfinished.commit().commitTimestamp(),
          why);
    }
  }

  private void backOff(long commitTimestamp) {
    backOffUntilNanos.put(commitTimestamp, System.nanoTime() + PAUSE_NANOS);
  }

  private boolean mayBeTried(UnfinishedCommit unfinished) {
    long commitTimestamp = unfinished.commit().commitTimestamp();
    Long backOffUntil = backOffUntilNanos.get(commitTimestamp);
    long bytes = largeBytes(unfinished);
    long others = underWayBytes.get();
    boolean hasRoom = bytes == 0 || others == 0 || others + bytes <= MAX_BYTES_AT_ONCE;
    return hasRoom
        && underWay.size() < MAX_AT_ONCE
        && !underWay.contains(commitTimestamp)
        && (backOffUntil == null || System.nanoTime() - backOffUntil >= 0);
  }

  /** Whether what it replaces is applied. */
  private boolean isNext(UnfinishedCommit unfinished, List<PartitionUpdate> updates) {
    InDoubtCommits inDoubt = oracle.inDoubt();
    return inDoubt.isEmpty()
        || inDoubt
            .find(WriteSet.of(updates, Set.of()).overwrites(), unfinished.applyAfter())
            .isEmpty();
  }

  private void apply(UnfinishedCommit unfinished, List<PartitionUpdate> updates) {
    long commitTimestamp = unfinished.commit().commitTimestamp();
    underWay.add(commitTimestamp);
    underWayBytes.addAndGet(largeBytes(unfinished));
    var unused =
        applier
            .attempt(updates, commitTimestamp, AppliedByOthers.of(oracle, commitTimestamp))
            .whenComplete(
                (isApplied, never) -> {
                  backOff(commitTimestamp);
                  underWay.remove(commitTimestamp);
                  underWayBytes.addAndGet(-largeBytes(unfinished));
                  if (Boolean.TRUE.equals(isApplied)) {
                    reportApplied(unfinished);
                  }
                });
  }

  private void reportApplied(UnfinishedCommit unfinished) {
    long commitTimestamp = unfinished.commit().commitTimestamp();
    logger.info(
        unfinished.isOrphan()
            ? "The commit {} at {} of a coordinator that is gone is finished."
            : "The commit {} at {} is finished, which its coordinator did not get applied.",
        unfinished.commit().transactionId(),
        commitTimestamp);
    var unused = oracle.applied(commitTimestamp, Optional.empty());
  }
}
