// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks one after the other, in order, on the threads of another executor. One that throws is
 * logged, and the next one runs.
 */
final class SerialExecutor implements Executor {
  private static final Logger log = LoggerFactory.getLogger(SerialExecutor.class);

  private final Executor threads;
  private final int bound;

  /** Guarded by itself; never more than {@link #bound}. */
  private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();

  private boolean isRunning;

  SerialExecutor(Executor threads, int bound) {
    this.threads = threads;
    this.bound = bound;
  }

  @Override
  public void execute(Runnable task) {
    synchronized (tasks) {
      if (tasks.size() >= bound) {
        throw new RejectedExecutionException("More than " + bound + " tasks wait.");
      }
      tasks.add(task);
      if (isRunning) {
        return;
      }
      isRunning = true;
    }
    try {
      threads.execute(this::run);
    } catch (RejectedExecutionException e) {
      synchronized (tasks) {
        isRunning = false;
        tasks.remove(task);
      }
      throw e;
    }
  }

  private void run() {
    while (true) {
      Runnable task;
      synchronized (tasks) {
        task = tasks.poll();
        if (task == null) {
          isRunning = false;
          return;
        }
      }
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        log.error("A task failed; those that wait for it to end go on", e);
      }
    }
  }
}
