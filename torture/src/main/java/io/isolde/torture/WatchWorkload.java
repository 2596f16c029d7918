// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.Isolde;
import io.isolde.client.TransactionOptions;
import io.isolde.client.Watch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * Writes rows that others watch. Each transaction also writes down which rows it writes, so what is
 * read in the end says what each watch must have reported.
 */
final class WatchWorkload implements CheckedWorkload {
  private static final int ROWS = 6;
  private static final int WATCHES = 16;

  private final int epoch;
  private final CqlSession session;
  private final AtomicInteger steps = new AtomicInteger();
  private final List<Watch> watches = new ArrayList<>();
  private final List<HeardChanges> heard = new ArrayList<>();
  private Map<Long, Set<Integer>> commits = Map.of();

  /**
   * Watches nothing yet.
   *
   * @param epoch its number; others have other rows
   * @param session null if only the tables are made
   */
  WatchWorkload(int epoch, CqlSession session) {
    this.epoch = epoch;
    this.session = session;
  }

  @Override
  public List<String> tables() {
    return List.of(
        "CREATE TABLE IF NOT EXISTS torture.watched (id int PRIMARY KEY, v int)",
        "ENABLE TRANSACTIONS ON torture.watched",
        "CREATE TABLE IF NOT EXISTS torture.written (epoch int, n int, ids set<int>, first int,"
            + " PRIMARY KEY (epoch, n))",
        "ENABLE TRANSACTIONS ON torture.written");
  }

  @Override
  public void prepare(Isolde isolde) {
    Random random = new Random(epoch);
    long now = now();
    for (int i = 0; i < WATCHES; i++) {
      Set<Integer> rows = new TreeSet<>();
      while (rows.isEmpty() || random.nextInt(3) == 0) {
        rows.add(epoch + random.nextInt(ROWS));
      }
      HeardChanges listener = new HeardChanges(rows, now);
      String ids = rows.stream().map(String::valueOf).collect(Collectors.joining(", "));
      heard.add(listener);
      watches.add(
          isolde.watch(
              "SELECT CHANGES FROM torture.watched WHERE id IN (" + ids + ")",
              List.of(),
              OptionalLong.of(now),
              listener));
    }
  }

  private long now() {
    Row position =
        session
            .execute("SELECT CHANGES FROM torture.watched AFTER NOW WITHIN 0 MILLISECONDS")
            .one();
    return position.getLong("timestamp");
  }

  @Override
  public void step(Isolde isolde, TransactionOptions options, Random random, Recorder recorder) {
    int step = steps.incrementAndGet();
    Set<Integer> rows = new TreeSet<>();
    while (rows.isEmpty() || random.nextInt(3) == 0) {
      rows.add(epoch + random.nextInt(ROWS));
    }
    var unused =
        recorder.run(
            isolde,
            options,
            (tx, done) -> {
              for (int row : rows) {
                tx.write("INSERT INTO torture.watched (id, v) VALUES (?, ?)", row, step);
              }
              tx.write(
                  "INSERT INTO torture.written (epoch, n, ids, first) VALUES (?, ?, ?, 0)",
                  epoch,
                  step,
                  rows);
            });
  }

  /** A cell's timestamp is its commit's. */
  @Override
  public boolean readAll(Isolde isolde, TransactionOptions options, Recorder recorder) {
    TreeMap<Long, Set<Integer>> found = new TreeMap<>();
    boolean isRead =
        recorder.run(
            isolde,
            options.toBuilder().readOnly(true).build(),
            (tx, done) -> {
              found.clear();
              String select =
                  "SELECT ids, WRITETIME(first) AS at FROM torture.written WHERE epoch = ?";
              for (Row row : tx.execute(select, epoch)) {
                found.put(row.getLong("at"), row.getSet("ids", Integer.class));
              }
            });
    if (!isRead || !areAt(found.isEmpty() ? 0 : found.lastKey())) {
      return false;
    }
    commits = found;
    watches.forEach(Watch::close);
    return true;
  }

  private boolean areAt(long timestamp) {
    return watches.stream()
        .allMatch(watch -> !watch.isOpen() || watch.position().orElse(0) >= timestamp);
  }

  @Override
  public List<String> violations(Recorder recorder) {
    watches.forEach(Watch::close);
    return heard.stream().flatMap(watch -> watch.violations(commits).stream()).toList();
  }

  @Override
  public String toString() {
    return "watched rows";
  }
}
