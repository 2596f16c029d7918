// SPDX-License-Identifier: Apache-2.0
package io.isolde.answer;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A few threads for requests that only start what is answered later. As a rule none of them waits.
 * But a request may meet a closed gate, a row in doubt, or a permission that must be read: while it
 * holds its thread, another thread serves the others.
 *
 * <p>So many requests are under way at most, until their answers are there. The others wait for
 * that, in their order; so a burst of clients is slow, where logs would refuse it. How many wait is
 * not bounded here: Cassandra bounds the bytes in flight that it takes from clients.
 */
public final class StartThreads {
  /** For longer than that no request computes, but on a machine that has more to do than it can. */
  static final long HELD_MILLIS = 10;

  private final int least;
  private final int most;
  private final Threads threads;
  private final Semaphore places;
  private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

  /**
   * Makes the pool.
   *
   * @param least how many threads serve requests
   * @param most how many there may be, with those that are held
   * @param underWay how many requests may be under way
   * @param clock looks at the threads every {@link #HELD_MILLIS}
   */
  public StartThreads(int least, int most, int underWay, ScheduledExecutorService clock) {
    this.least = least;
    this.most = most;
    this.places = new Semaphore(underWay);
    this.threads = new Threads(least);
    var unused =
        clock.scheduleWithFixedDelay(this::look, HELD_MILLIS, HELD_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Runs a request as soon as there is a place, until {@link #answered}. */
  public void execute(Runnable request) {
    waiting.add(request);
    admit();
  }

  /** The answer of a request is there. */
  public void answered() {
    places.release();
    admit();
  }

  /** Whoever adds a request or releases a place looks at both, so none is left waiting. */
  private void admit() {
    while (!waiting.isEmpty() && places.tryAcquire()) {
      Runnable next = waiting.poll();
      if (next == null) {
        places.release();
      } else {
        threads.execute(next);
      }
    }
  }

  /** How many threads there are. */
  int size() {
    return threads.getPoolSize();
  }

  private void look() {
    int held = threads.held();
    boolean areAllHeld = held >= threads.getPoolSize() && !threads.getQueue().isEmpty();
    int size = Math.min(most, Math.max(least + held, areAllHeld ? 2 * held : 0));
    if (size > threads.getCorePoolSize()) {
      threads.setMaximumPoolSize(size);
      threads.setCorePoolSize(size);
    } else if (size < threads.getCorePoolSize()) {
      threads.setCorePoolSize(size);
      threads.setMaximumPoolSize(size);
    }
  }

  /** Knows since when each of its threads has its request, and which of them wait. */
  private static final class Threads extends ThreadPoolExecutor {
    private final Map<Thread, Long> sinceNanos = new ConcurrentHashMap<>();

    private Threads(int size) {
      super(
          size,
          size,
          0,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          new ThreadFactoryBuilder().setNameFormat("IsoldeRequest-%d").setDaemon(true).build());
    }

    @Override
    protected void beforeExecute(Thread thread, Runnable request) {
      sinceNanos.put(thread, System.nanoTime());
    }

    @Override
    protected void afterExecute(Runnable request, Throwable failure) {
      sinceNanos.remove(Thread.currentThread());
    }

    private int held() {
      long now = System.nanoTime();
      int held = 0;
      for (Map.Entry<Thread, Long> busy : sinceNanos.entrySet()) {
        boolean isLong = now - busy.getValue() >= TimeUnit.MILLISECONDS.toNanos(HELD_MILLIS);
        if (isLong || busy.getKey().getState() != Thread.State.RUNNABLE) {
          held++;
        }
      }
      return held;
    }
  }
}
