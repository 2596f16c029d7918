// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** What event loops have done elsewhere. */
final class PushThreads implements AutoCloseable {
  /** One for each subscription that has just been answered. */
  private static final int MAX_QUESTIONS = 200_000;

  /** A node with so many logins to do refuses others, which come again later. */
  private static final int MAX_LOGINS = 1_000;

  private static final int THREADS = 2;

  private final ThreadPoolExecutor questions = pool("isolde-push", MAX_QUESTIONS);
  private final ThreadPoolExecutor logins = pool("isolde-push-login", MAX_LOGINS);

  private static ThreadPoolExecutor pool(String name, int maxWaiting) {
    ThreadPoolExecutor pool =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(maxWaiting),
            new DefaultThreadFactory(name, true));
    pool.allowCoreThreadTimeOut(true);
    return pool;
  }

  /** Runs something that takes a little; whether there is room for it. */
  boolean ask(Runnable task) {
    return tryTo(questions, task);
  }

  /** Logs somebody in, which may take some tenths of a second; whether there is room for it. */
  boolean login(Runnable task) {
    return tryTo(logins, task);
  }

  private static boolean tryTo(ThreadPoolExecutor pool, Runnable task) {
    try {
      pool.execute(task);
      return true;
    } catch (RejectedExecutionException e) {
      return false;
    }
  }

  @Override
  public void close() {
    questions.shutdown();
    logins.shutdown();
  }
}
