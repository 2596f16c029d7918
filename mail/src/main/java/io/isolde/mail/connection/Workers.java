// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.connection;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads that may wait: for the database, for the hash of a password. Threads of the network
 * never do.
 */
public final class Workers implements Executor, AutoCloseable {
  private static final int MAX_CLOSING_SECONDS = 30;

  private final ThreadPoolExecutor threads;

  /**
   * Makes the threads.
   *
   * @param maxThreads at work at the same time
   * @param maxWaiting tasks that wait for a thread; a further one is refused with {@link
   *     java.util.concurrent.RejectedExecutionException}
   */
  public Workers(int maxThreads, int maxWaiting) {
    AtomicInteger number = new AtomicInteger();
    threads =
        new ThreadPoolExecutor(
            maxThreads,
            maxThreads,
            30,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(maxWaiting),
            task -> {
              Thread thread = new Thread(task, "mail-worker-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
  }

  /** How many may work at the same time. */
  public int count() {
    return threads.getMaximumPoolSize();
  }

  @Override
  public void execute(Runnable task) {
    threads.execute(task);
  }

  /** Lets tasks that have started end, for 30 seconds at most; a delivery is one of them. */
  @Override
  public void close() {
    threads.shutdown();
    try {
      if (!threads.awaitTermination(MAX_CLOSING_SECONDS, TimeUnit.SECONDS)) {
        threads.shutdownNow();
      }
    } catch (InterruptedException e) {
      threads.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }
}
