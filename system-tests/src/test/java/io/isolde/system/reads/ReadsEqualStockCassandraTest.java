// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.reads;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.IsolationLevel;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.SystemNode;
import io.isolde.system.reads.RandomReads.Read;
import io.isolde.system.reads.TwinTables.Order;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every shape of SELECT, on random data: in the transaction that writes, in older snapshots, and
 * after the commit, rows are those that stock Cassandra returns from a plain table.
 */
class ReadsEqualStockCassandraTest {

  private static final String FAILED = "failed: ";
  private static final int ROUNDS = 3;
  private static final int WRITES_BEFORE = 40;
  private static final int WRITES_PER_ROUND = 14;
  private static final int NEW_SEEDS = 3;

  /** An open transaction, and what it must go on to see. */
  private record Snapshot(Transaction transaction, Map<Read, List<String>> right) {}

  /** One that found something once: a page that ended at a partition with only static columns. */
  private static final long FOUND_STATIC_ONLY_PARTITIONS = 5234424969998990474L;

  /**
   * One that has found something, and some that never were before; the only one if the system
   * property {@code isolde.seed} names it.
   */
  static LongStream seeds() {
    String only = System.getProperty("isolde.seed");
    return only != null
        ? LongStream.of(Long.parseLong(only))
        : LongStream.concat(
            LongStream.of(FOUND_STATIC_ONLY_PARTITIONS),
            ThreadLocalRandom.current().longs(NEW_SEEDS));
  }

  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void whenReadThenRowsAreThoseOfAPlainTable(long seed) {
    Random random = new Random(seed);
    Order[] orders = Order.values();
    Order order = orders[random.nextInt(orders.length)];
    TwinTables twins = TwinTables.create(SystemNode.shared(), random, order);
    List<Snapshot> snapshots = new ArrayList<>();
    try {
      fill(twins);
      for (int round = 1; round <= ROUNDS; round++) {
        twins.note("-- round " + round);
        snapshots.add(snapshot(twins));
        writeInTransaction(twins, snapshots);
        shuffleStorage(twins);
        checkSnapshots(twins, snapshots, "after the commit");
        check(twins, right(twins), null, "committed");
      }
    } catch (AssertionError e) {
      throw new AssertionError(
          "seed %d, table %s: %s%n%s"
              .formatted(
                  seed, twins.transactional(), e.getMessage(), String.join("\n", twins.history())),
          e);
    } finally {
      snapshots.forEach(snapshot -> snapshot.transaction().close());
    }
  }

  /** Half of it before the table becomes transactional, half of that on disk. */
  private static void fill(TwinTables twins) {
    RandomWrites writes = new RandomWrites(twins.random());
    for (int i = 0; i < WRITES_BEFORE; i++) {
      if (i == WRITES_BEFORE / 2) {
        twins.enable();
      }
      twins.write(writes.next());
    }
  }

  private static void writeInTransaction(TwinTables twins, List<Snapshot> snapshots) {
    RandomWrites writes = new RandomWrites(twins.random());
    Map<Read, List<String>> before = right(twins);
    try (Transaction transaction = twins.node().isolde().begin(level(twins.random()))) {
      for (int i = 1; i <= WRITES_PER_ROUND; i++) {
        twins.write(transaction, writes.next());
        if (i == 3 || i == WRITES_PER_ROUND) {
          check(twins, right(twins), transaction, "own writes");
        }
      }
      check(twins, before, null, "before the commit");
      checkSnapshots(twins, snapshots, "before the commit");
      transaction.commit();
    }
  }

  private static TransactionOptions level(Random random) {
    IsolationLevel[] levels = IsolationLevel.values();
    return TransactionOptions.builder()
        .isolationLevel(levels[random.nextInt(levels.length)])
        .build();
  }

  private static Snapshot snapshot(TwinTables twins) {
    return new Snapshot(twins.node().isolde().begin(TransactionOptions.reading()), right(twins));
  }

  private static void shuffleStorage(TwinTables twins) {
    switch (twins.random().nextInt(3)) {
      case 0 -> twins.node().flush(twins.transactional());
      case 1 -> twins.node().flushAndCompact(twins.transactional());
      default -> {}
    }
  }

  /** Of half of the shapes, other ones each time. */
  private static Map<Read, List<String>> right(TwinTables twins) {
    List<Read> reads = RandomReads.all(twins.random());
    Collections.shuffle(reads, twins.random());
    Map<Read, List<String>> right = new LinkedHashMap<>();
    reads.subList(0, reads.size() / 2).forEach(read -> right.put(read, twins.right(read)));
    return right;
  }

  private static void checkSnapshots(TwinTables twins, List<Snapshot> snapshots, String when) {
    for (Snapshot snapshot : snapshots) {
      check(twins, snapshot.right(), snapshot.transaction(), "older snapshot " + when);
    }
  }

  private static void check(
      TwinTables twins, Map<Read, List<String>> right, Transaction transaction, String where) {
    right.forEach(
        (read, rows) -> {
          List<String> found = rowsOrError(twins, read, transaction);
          if (rows == null) { // What stock Cassandra fails to read is not compared, but answered.
            assertThat(found).as("%s: %s", where, read).noneMatch(row -> row.startsWith(FAILED));
          } else {
            assertThat(found).as("%s: %s", where, read).isEqualTo(rows);
          }
        });
  }

  private static List<String> rowsOrError(TwinTables twins, Read read, Transaction transaction) {
    try {
      return twins.read(read, transaction);
    } catch (RuntimeException e) {
      return List.of(FAILED + e);
    }
  }
}
