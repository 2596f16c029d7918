// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.util.ArrayDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/** Runs tasks one after the other, in order, on the threads of another executor. */
final class SerialExecutor implements Executor {
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
      task.run();
    }
  }
}
