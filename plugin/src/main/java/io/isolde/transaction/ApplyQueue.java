// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs many short tasks on few threads of another executor, several after each other on each: an
 * answer of the oracle releases the commits of all who wait, and to wake a thread for each costs
 * more than what it writes. Thread-safe; holds as many tasks as commits are decided and not
 * applied, which the oracle bounds.
 *
 * <p>A task that blocks holds up the few behind it. Commits become visible in their order, so that
 * most of them would have to wait for it anyway.
 */
final class ApplyQueue implements Executor {
  /** For each so many that wait there is a thread: far below what an answer releases under load. */
  static final int TASKS_OF_A_THREAD = 8;

  private final Executor threads;
  private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waitingTasks = new AtomicInteger();
  private final AtomicInteger runningThreads = new AtomicInteger();

  /**
   * @param threads may run as many tasks at once as it likes, but each of them before long
   */
  ApplyQueue(Executor threads) {
    this.threads = threads;
  }

  /** Runs a task, which must not throw, before long. */
  @Override
  public void execute(Runnable task) {
    waiting.add(task);
    waitingTasks.incrementAndGet();
    startIfNeeded();
  }

  private void startIfNeeded() {
    int running = runningThreads.get();
    while (waitingTasks.get() > running * TASKS_OF_A_THREAD) {
      if (runningThreads.compareAndSet(running, running + 1)) {
        threads.execute(this::run);
        return;
      }
      running = runningThreads.get();
    }
  }

  private void run() {
    try {
      for (Runnable task = waiting.poll(); task != null; task = waiting.poll()) {
        waitingTasks.decrementAndGet();
        task.run();
      }
    } finally {
      runningThreads.decrementAndGet();
      startIfNeeded(); // What came after the last look.
    }
  }
}
