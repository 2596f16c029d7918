// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Threads with names of their own, which do not keep a process alive. */
public final class Daemons {
  private Daemons() {}

  /** Makes threads that all have this name. */
  public static ThreadFactory named(String name) {
    return task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  /** One thread; it refuses a task if as many wait as may. */
  public static ExecutorService one(String name, int maxWaiting) {
    return new ThreadPoolExecutor(
        1, 1, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(maxWaiting), named(name));
  }

  /** One thread for what is due later; what is cancelled before takes no room. */
  public static ScheduledExecutorService timer(String name) {
    ScheduledThreadPoolExecutor timer = new ScheduledThreadPoolExecutor(1, named(name));
    timer.setRemoveOnCancelPolicy(true);
    return timer;
  }
}
