// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.cluster.ToolException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The load: every moment a new row is written, and then read at various times after that. Some rows
 * are written several times before, each version as soon as the one before is acknowledged: they
 * tell of k-staleness. For t-visibility they will not do: replicas that differ in an earlier
 * version let Cassandra read a second time, so such reads are fresher than a lone write's. Each
 * request has a coordinator of its own, any of the nodes. Rows are never used again, so no episode
 * disturbs another.
 */
final class Episodes {
  /** The versions of a row that has several. */
  static final int VERSIONS = 4;

  /** One row in so many has several versions. */
  static final int SEVERAL_VERSIONS_ONE_IN = 4;

  private static final int LAST = VERSIONS - 1;
  static final int READS = 16;

  /** Of the reads, so many are within the first tenth of the time, where most happens. */
  private static final int EARLY_READS = 8;

  private static final double EARLY = 0.1;
  private static final long ROUND_TRIP_EVERY_MILLIS = 20;
  private static final long PATIENCE_SECONDS = 30;

  /** What the load never goes beyond: rows that are due and would are counted as left out. */
  record Limits(int rowsAtOnce, int rows) {
    static final Limits USUAL = new Limits(4_000, StudyOptions.MAX_ROWS);
  }

  private final LoadRequests table;
  private final Supplier<List<Node>> coordinators;
  private final StudyOptions options;
  private final Seen seen = new Seen();
  private final Limits limits;
  private final Semaphore atOnce;
  private final AtomicLong nextId = new AtomicLong();
  private final ScheduledThreadPoolExecutor clock = new ScheduledThreadPoolExecutor(2);
  private long startNanos;

  Episodes(
      LoadRequests table, Supplier<List<Node>> coordinators, StudyOptions options, Limits limits) {
    this.table = table;
    this.coordinators = coordinators;
    this.options = options;
    this.limits = limits;
    this.atOnce = new Semaphore(limits.rowsAtOnce());
  }

  /**
   * Runs for a time, and waits until all is answered.
   *
   * @param progress is told every second how many seconds have passed
   */
  Seen run(LoadTime time, Consumer<Integer> progress) throws InterruptedException {
    startNanos = System.nanoTime();
    long everyNanos = TimeUnit.SECONDS.toNanos(1) / options.episodesPerSecond();
    var episodes = clock.scheduleAtFixedRate(this::begin, 0, everyNanos, TimeUnit.NANOSECONDS);
    var roundTrips =
        clock.scheduleAtFixedRate(
            this::roundTrip, 0, ROUND_TRIP_EVERY_MILLIS, TimeUnit.MILLISECONDS);
    try {
      for (int second = 1; time.goesOnAfter(second - 1); second++) {
        TimeUnit.SECONDS.sleep(1);
        seen.ranFor(second);
        progress.accept(second);
        requireRunning(episodes, roundTrips);
      }
    } finally {
      episodes.cancel(false);
      roundTrips.cancel(false);
      boolean isDone = atOnce.tryAcquire(limits.rowsAtOnce(), PATIENCE_SECONDS, TimeUnit.SECONDS);
      clock.shutdownNow();
      if (!isDone) {
        seen.error(new ToolException("Some requests were never answered."), sinceStartMillis());
      }
    }
    return seen;
  }

  private static void requireRunning(Future<?>... tasks) throws InterruptedException {
    for (var task : tasks) {
      if (task.isDone()) {
        try {
          task.get();
        } catch (ExecutionException e) {
          throw new ToolException("The load broke off: " + e.getCause(), e);
        }
      }
    }
  }

  private long sinceStartMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
  }

  private Node anyNode() {
    List<Node> nodes = coordinators.get();
    return nodes.get(ThreadLocalRandom.current().nextInt(nodes.size()));
  }

  private void begin() {
    if (nextId.get() >= limits.rows() || !atOnce.tryAcquire()) {
      seen.rowLeftOut();
      return;
    }
    long id = nextId.incrementAndGet();
    writeVersion(id, id % SEVERAL_VERSIONS_ONE_IN == 0 ? 0 : LAST, 0);
  }

  private void writeVersion(long id, int version, long previousStart) {
    long start = System.nanoTime();
    long at = sinceStartMillis();
    if (previousStart != 0) {
      seen.interval((start - previousStart) / 1e3);
    }
    table
        .write(anyNode(), id, version)
        .whenComplete(
            (done, error) -> {
              long acknowledged = System.nanoTime();
              if (error != null) {
                seen.error(error, at);
                atOnce.release();
                return;
              }
              seen.write(new Seen.Write((acknowledged - start) / 1e3, at));
              if (version < LAST) {
                writeVersion(id, version + 1, start);
              } else {
                scheduleReads(id, acknowledged);
              }
            });
  }

  private void scheduleReads(long id, long acknowledged) {
    double maxNanos = 1e6 * options.maxAfterMillis();
    AtomicLong left = new AtomicLong(READS);
    for (int i = 0; i < READS; i++) {
      double within = i < EARLY_READS ? EARLY * maxNanos : maxNanos;
      long due = acknowledged + (long) (within * ThreadLocalRandom.current().nextDouble());
      long wait = Math.max(0, due - System.nanoTime());
      var unused = clock.schedule(() -> read(id, acknowledged, left), wait, TimeUnit.NANOSECONDS);
    }
  }

  private void read(long id, long acknowledged, AtomicLong left) {
    long start = System.nanoTime();
    long at = sinceStartMillis();
    table
        .read(anyNode(), id)
        .whenComplete(
            (version, error) -> {
              if (error != null) {
                seen.error(error, at);
              } else {
                seen.read(
                    new Seen.Read(
                        (start - acknowledged) / 1e3,
                        LAST - version,
                        id % SEVERAL_VERSIONS_ONE_IN == 0,
                        (System.nanoTime() - start) / 1e3,
                        at));
              }
              if (left.decrementAndGet() == 0) {
                atOnce.release();
              }
            });
  }

  private void roundTrip() {
    long start = System.nanoTime();
    long at = sinceStartMillis();
    table
        .roundTrip(anyNode())
        .whenComplete(
            (done, error) -> {
              if (error != null) {
                seen.error(error, at);
              } else {
                seen.roundTrip((System.nanoTime() - start) / 1e3);
              }
            });
  }
}
