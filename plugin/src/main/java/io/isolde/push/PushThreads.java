// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** What event loops have done elsewhere. Each kind has threads of its own, and none waits long. */
final class PushThreads implements AutoCloseable {
  /** One for each subscription that has just been answered. */
  private static final int MAX_QUESTIONS = 200_000;

  /** Each may have the largest message; who finds no room comes again later. */
  static final int MAX_PREPARING = 256;

  /** However quick they are. */
  private static final int MAX_LOGINS = 1_000;

  /** Who had to wait longer would perhaps have given up, and come again. */
  static final long MAX_LOGIN_WAIT_NANOS = TimeUnit.SECONDS.toNanos(4);

  /** Until some were measured: as a hash of a password takes. */
  private static final long FIRST_LOGIN_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** Of the mean, what the last one has. */
  private static final int LAST_PART = 8;

  /** Of each kind. */
  static final int THREADS = 2;

  private final ThreadPoolExecutor questions = pool("isolde-push", MAX_QUESTIONS);
  private final ThreadPoolExecutor preparing = pool("isolde-push-prepare", MAX_PREPARING);
  private final ThreadPoolExecutor logins = pool("isolde-push-login", MAX_LOGINS);

  /** How long one takes; two threads that both write it do no harm. */
  private volatile long loginNanos = FIRST_LOGIN_NANOS;

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

  /** Asks a question; whether there is room for it. */
  boolean ask(Runnable task) {
    return tryTo(questions, task);
  }

  /** Understands a statement, which may have to read permissions; whether there is room for it. */
  boolean prepare(Runnable task) {
    return tryTo(preparing, task);
  }

  /**
   * Logs somebody in, which may take some tenths of a second; whether it will be done before long.
   */
  boolean login(Runnable task) {
    return logins.getQueue().size() * loginNanos / THREADS <= MAX_LOGIN_WAIT_NANOS
        && tryTo(logins, task);
  }

  /** A login has taken so long. */
  void loggedIn(long nanos) {
    long before = loginNanos;
    loginNanos = before + (nanos - before) / LAST_PART;
  }

  /** How many are done in a second if one takes as long as the last ones. */
  int loginsPerSecond() {
    return (int) Math.min(MAX_LOGINS, THREADS * TimeUnit.SECONDS.toNanos(1) / (1 + loginNanos));
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
    preparing.shutdown();
    logins.shutdown();
  }
}
