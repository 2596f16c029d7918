// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntToLongFunction;

/**
 * Changes rows in turn at a fixed pace, whether watchers and earlier changes are done or not. So
 * several changes of a row are under way when one takes long.
 */
final class OpenLoop implements AutoCloseable {
  private static final int THREADS = 32;
  private static final int MAX_WAITING = 256;
  private static final int MAX_CLOSE_SECONDS = 60;

  private final IntToLongFunction change;
  private final List<CommitLog> logs;
  private final ThreadPoolExecutor threads =
      new ThreadPoolExecutor(
          THREADS, THREADS, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(MAX_WAITING));
  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
  private final LongAdder refused = new LongAdder();
  private final LongAdder skipped = new LongAdder();
  private int next;

  /**
   * Starts at once.
   *
   * @param change of a row; throws as {@link Writer#change} does
   * @param logs one for each row
   */
  OpenLoop(int perSecond, IntToLongFunction change, List<CommitLog> logs) {
    this.change = change;
    this.logs = logs;
    long nanos = TimeUnit.SECONDS.toNanos(1) / perSecond;
    var unused = clock.scheduleAtFixedRate(this::send, 0, nanos, TimeUnit.NANOSECONDS);
  }

  /** Of the clock alone. Whatever finds no room is left out. */
  private void send() {
    int row = next++ % logs.size();
    if (threads.getQueue().remainingCapacity() == 0) {
      skipped.increment();
    } else {
      threads.execute(() -> change(row));
    }
  }

  private void change(int row) {
    try {
      logs.get(row).committedAmongOthers(change.applyAsLong(row));
    } catch (Writer.DoubtfulException e) {
      logs.get(row).doubtful();
    } catch (RuntimeException e) {
      refused.increment();
    }
  }

  /** Changes that were not made. */
  long refused() {
    return refused.sum();
  }

  /** Changes that were not tried, since too many were under way. */
  long skipped() {
    return skipped.sum();
  }

  /** Waits for all that are under way. */
  @Override
  public void close() throws InterruptedException {
    clock.shutdownNow();
    boolean unused = clock.awaitTermination(MAX_CLOSE_SECONDS, TimeUnit.SECONDS);
    threads.shutdown();
    if (!threads.awaitTermination(MAX_CLOSE_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("A change has no answer for a minute.");
    }
  }
}
