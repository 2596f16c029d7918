// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static io.isolde.oracle.OracleFixture.decide;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.SerializationGraph.Committed;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Random interleaved transactions against an oracle and a model multi-version store. Rows lie in
 * two partitions; a scan reads one coarse id for a whole partition, and a write touches that too.
 *
 * <p>Invariants checked on the way: a snapshot has every commit at or below it; no row ever
 * receives an older version after a newer one.
 */
final class Simulation {
  private static final int STEPS = 400;
  private static final int ROWS = 8;
  private static final int MAX_OPEN = 6;
  private static final int MAX_PENDING = 3;

  private static final class Transaction {
    final int id;
    final UUID uuid;
    final long start;
    final Set<Long> readIds = new HashSet<>();
    final Set<Long> conditions = new HashSet<>();
    final Map<Long, Integer> reads = new HashMap<>();
    final Set<Long> writes = new HashSet<>();

    Transaction(int id, UUID uuid, long start) {
      this.id = id;
      this.uuid = uuid;
      this.start = start;
    }
  }

  /** Rows that nobody was to change between the start and the commit of a transaction. */
  record Unchanged(long start, long commit, Set<Long> rows) {}

  private record Pending(Transaction transaction, long commitTimestamp, long applyAfter) {}

  private final Random random;
  private final IsolationLevel level;
  private final StatusOracle oracle;
  private final List<Transaction> open = new ArrayList<>();
  private final List<Pending> pending = new ArrayList<>();
  private final Map<Long, TreeMap<Long, Integer>> store = new HashMap<>();
  private final List<Committed> history = new ArrayList<>();
  private final List<Unchanged> unchanged = new ArrayList<>();
  private boolean checksConditions = true;
  private int transactions;
  private long now = 1000;

  Simulation(long seed, IsolationLevel level, int maxRows) {
    this.random = new Random(seed);
    this.level = level;
    OracleConfig config =
        OracleConfig.defaults().withMaxRows(maxRows).withMaxPendingCommits(MAX_PENDING);
    this.oracle = new StatusOracle(config.withMaxOutcomes(8));
    oracle.reserve(Long.MAX_VALUE);
  }

  /** The committed transactions, read-only ones included. */
  List<Committed> run() {
    for (int step = 0; step < STEPS; step++) {
      now += random.nextInt(20) - 5L;
      step();
    }
    return history;
  }

  /** A mistake: at SNAPSHOT, the oracle does not hear of what conditions have read. */
  Simulation withoutConditions() {
    checksConditions = false;
    return this;
  }

  List<Unchanged> unchanged() {
    return unchanged;
  }

  OracleStatistics statistics() {
    return oracle.statistics();
  }

  /** Commits come faster than they are applied, so that they pile up now and then. */
  private void step() {
    int choice = random.nextInt(20);
    if (open.isEmpty() || (choice < 3 && open.size() < MAX_OPEN)) {
      begin();
    } else if (choice < 5) {
      apply();
    } else {
      Transaction transaction = open.get(random.nextInt(open.size()));
      if (choice < 9) {
        long row = random.nextInt(ROWS);
        read(transaction, row, true);
        if (random.nextInt(4) == 0) {
          transaction.conditions.add(row);
        }
      } else if (choice < 10) {
        scan(transaction);
      } else if (choice < 14) {
        transaction.writes.add((long) random.nextInt(ROWS));
      } else {
        finish(transaction);
      }
    }
  }

  private void begin() {
    int id = transactions++;
    UUID uuid = new UUID(4, id);
    open.add(new Transaction(id, uuid, OracleFixture.begin(oracle, now)));
  }

  private void read(Transaction transaction, long row, boolean isById) {
    if (isById) {
      transaction.readIds.add(row);
    }
    var version = store.getOrDefault(row, new TreeMap<>()).floorEntry(transaction.start);
    int writer = version == null ? SerializationGraph.NOBODY : version.getValue();
    Integer before = transaction.reads.put(row, writer);
    assertThat(before).as("a snapshot does not change").isIn(null, writer);
  }

  private void scan(Transaction transaction) {
    long partition = partitionOf(random.nextInt(ROWS));
    transaction.readIds.add(partition);
    for (long row = 0; row < ROWS; row++) {
      if (partitionOf(row) == partition) {
        read(transaction, row, false);
      }
    }
  }

  private static long partitionOf(long row) {
    return 1000 + row % 2;
  }

  private void finish(Transaction transaction) {
    if (transaction.writes.isEmpty()) {
      open.remove(transaction);
      record(transaction, transaction.start);
    } else if (random.nextInt(10) == 0) {
      open.remove(transaction);
    } else {
      commit(transaction);
    }
  }

  private void commit(Transaction transaction) {
    CommitRequest request = requestOf(transaction);
    Decision decision = decide(oracle, request, now);
    if (decision instanceof Decision.Refused) {
      return;
    }
    assertThat(decide(oracle, request, now)).as("repeated").isEqualTo(decision);
    open.remove(transaction);
    if (decision instanceof Decision.Committed committed) {
      pending.add(new Pending(transaction, committed.commitTimestamp(), committed.applyAfter()));
      record(transaction, committed.commitTimestamp());
      unchanged.add(
          new Unchanged(transaction.start, committed.commitTimestamp(), transaction.conditions));
    }
  }

  private CommitRequest requestOf(Transaction transaction) {
    Set<Long> conditions = checksConditions ? transaction.conditions : Set.of();
    Set<Long> touched = new HashSet<>(transaction.writes);
    transaction.writes.forEach(row -> touched.add(partitionOf(row)));
    return new CommitRequest(
        transaction.uuid,
        level,
        transaction.start,
        array(level == IsolationLevel.SERIALIZABLE ? transaction.readIds : conditions),
        array(transaction.writes),
        array(touched));
  }

  private static long[] array(Set<Long> ids) {
    return ids.stream().mapToLong(Long::longValue).toArray();
  }

  private void record(Transaction transaction, long commit) {
    history.add(
        new Committed(
            transaction.id, transaction.start, commit, transaction.reads, transaction.writes));
  }

  /** Applies any pending commit that need not wait for another. */
  private void apply() {
    List<Pending> ready =
        pending.stream().filter(some -> oracle.stable() >= some.applyAfter).toList();
    assertThat(ready.isEmpty()).as("some pending commit can go on").isEqualTo(pending.isEmpty());
    if (ready.isEmpty()) {
      return;
    }
    Pending next = ready.get(random.nextInt(ready.size()));
    pending.remove(next);
    for (long row : next.transaction.writes) {
      TreeMap<Long, Integer> versions = store.computeIfAbsent(row, unseen -> new TreeMap<>());
      assertThat(versions.floorKey(Long.MAX_VALUE))
          .as("versions of a row arrive in order")
          .satisfiesAnyOf(
              newest -> assertThat(newest).isNull(),
              newest -> assertThat(newest).isLessThan(next.commitTimestamp));
      versions.put(next.commitTimestamp, next.transaction.id);
    }
    oracle.applied(next.commitTimestamp);
  }
}
