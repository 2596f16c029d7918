// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.cassandra.cql3.UntypedResultSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Readers of the past while a writer, flushes and compactions take it away under them. Each round
 * writes its own number into every row at one timestamp, so as of that timestamp every row has it.
 */
class ConcurrentReadsTest {
  private static final int ROWS = 20;
  private static final int READERS = 2;
  private static final int KEPT_ROUNDS = 50;
  private static final long MILLIS = 4_000;

  private static TestClock clock;

  @BeforeAll
  static void start() {
    clock = TestClock.ofThisNode();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "CREATE INDEX ON %s (v)", "CREATE INDEX ON %s (v) USING 'sai'"})
  void whenRowsAreReplacedFlushedAndCompactedThenReadersSeeOneRoundOnly(String index)
      throws Exception {
    try (VersionedTable table =
        new VersionedTable("(p int, c int, v int, PRIMARY KEY (p, c)) WITH gc_grace_seconds = 0")) {
      if (!index.isEmpty()) {
        table.index(index);
      }
      AtomicBoolean stop = new AtomicBoolean();
      Rounds rounds = new Rounds(table);
      rounds.write();
      ExecutorService threads = Executors.newFixedThreadPool(READERS + 2);
      List<Future<?>> running = new ArrayList<>();
      running.add(threads.submit(() -> repeat(stop, rounds::write)));
      running.add(threads.submit(() -> repeat(stop, () -> flushOrCompact(table))));
      for (int reader = 0; reader < READERS; reader++) {
        running.add(threads.submit(() -> repeat(stop, rounds::check)));
      }
      Thread.sleep(MILLIS);
      stop.set(true);
      for (Future<?> each : running) {
        each.get(30, TimeUnit.SECONDS);
      }
      threads.shutdown();
      assertThat(rounds.checks).as("checks").isGreaterThan(100);
    }
  }

  private static void repeat(AtomicBoolean stop, Runnable action) {
    while (!stop.get()) {
      action.run();
    }
  }

  private static void flushOrCompact(VersionedTable table) {
    table.flush();
    if (ThreadLocalRandom.current().nextInt(4) == 0) {
      table.compact();
    }
  }

  /** A round's number is its timestamp, less the first one. */
  private static final class Rounds {
    private final VersionedTable table;
    private final long first = clock.latestTimestamp();
    private volatile long applied;
    private volatile int checks;

    /** Guarded by this: what readers read as of, so that it is kept for them. */
    private final TreeMap<Long, Integer> readers = new TreeMap<>();

    Rounds(VersionedTable table) {
      this.table = table;
    }

    void write() {
      long timestamp = clock.next();
      long round = timestamp - first;
      boolean deleteFirst = ThreadLocalRandom.current().nextInt(5) == 0;
      for (int p = 0; p < 2; p++) {
        if (deleteFirst) {
          long before = timestamp - 1;
          table.execute("DELETE FROM %s USING TIMESTAMP " + before + " WHERE p = " + p);
        }
        for (int c = 0; c < ROWS; c++) {
          table.execute(
              "INSERT INTO %s (p, c, v) VALUES ("
                  + p
                  + ", "
                  + c
                  + ", "
                  + round
                  + ") USING TIMESTAMP "
                  + timestamp);
        }
      }
      applied = timestamp;
      synchronized (this) {
        long kept = timestamp - 2 * KEPT_ROUNDS;
        clock.releaseBelow(readers.isEmpty() ? kept : Math.min(kept, readers.firstKey()));
      }
    }

    private synchronized long begin() {
      long back = 2L * ThreadLocalRandom.current().nextInt(KEPT_ROUNDS);
      long asOf = Math.max(first + 2, applied - back);
      readers.merge(asOf, 1, Integer::sum);
      return asOf;
    }

    private synchronized void end(long asOf) {
      readers.computeIfPresent(asOf, (key, count) -> count == 1 ? null : count - 1);
      checks++;
    }

    void check() {
      long asOf = begin();
      try {
        check(asOf);
      } finally {
        end(asOf);
      }
    }

    private void check(long asOf) {
      for (String query : List.of("SELECT v FROM %s %s", "SELECT v FROM %s WHERE p = 1 %s")) {
        UntypedResultSet rows = table.asOf(asOf, query);
        assertThat(rows).as("%s as of %s", query, asOf - first).isNotEmpty();
        for (UntypedResultSet.Row row : rows) {
          assertThat((long) row.getInt("v")).as("%s", query).isEqualTo(asOf - first);
        }
        assertThat(rows.size()).isEqualTo(query.contains("WHERE") ? ROWS : 2 * ROWS);
      }
      long round = asOf - first;
      String byValue = "SELECT v FROM %s WHERE v = " + round + " %s ALLOW FILTERING";
      assertThat(table.asOf(asOf, byValue)).as("%s", byValue).hasSize(2 * ROWS);
      UntypedResultSet.Row row =
          table.asOf(asOf, "SELECT v FROM %s WHERE p = 0 AND c = 7 %s").one();
      assertThat((long) row.getInt("v")).isEqualTo(asOf - first);
    }
  }
}
