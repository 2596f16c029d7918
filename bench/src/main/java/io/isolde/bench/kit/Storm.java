// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * Requests at a fixed pace, while something else is measured: unlike a closed loop, it is the same
 * storm whatever the table costs.
 */
final class Storm implements AutoCloseable {
  /** Bounds what a stalled node piles up. */
  private static final int MAX_IN_FLIGHT = 200;

  private static final long TICK_NANOS = 1_000_000;

  /** What could not be sent for this long is not sent at all, rather than in a burst. */
  private static final double MAX_DELAY_SECONDS = 0.1;

  /**
   * What a storm does.
   *
   * @param leadIn how long it blows before anything is measured
   */
  record Plan(Workload workload, double perSecond, Duration leadIn) {}

  private final Plan plan;
  private final Semaphore free = new Semaphore(MAX_IN_FLIGHT);
  private final LongAdder answered = new LongAdder();
  private final long startNanos = System.nanoTime();
  private final Repeated blowing;

  /** Only touched by the thread that blows. */
  private double sent;

  private Storm(Plan plan) {
    this.plan = plan;
    this.blowing = new Repeated("storm", this::blow);
  }

  /** Starts a storm and waits for its lead-in. */
  static Storm start(Plan plan) {
    Storm storm = new Storm(plan);
    LockSupport.parkNanos(plan.leadIn.toNanos());
    return storm;
  }

  private void blow() {
    double due = (System.nanoTime() - startNanos) / 1e9 * plan.perSecond;
    sent = Math.max(sent, due - MAX_DELAY_SECONDS * plan.perSecond);
    while (sent < due && free.tryAcquire()) {
      sent++;
      var unused = plan.workload.send().whenComplete((result, error) -> answered(error));
    }
    LockSupport.parkNanos(TICK_NANOS);
  }

  private void answered(Throwable error) {
    free.release();
    if (error == null) {
      answered.increment();
    }
  }

  /** Returns how many requests a second were answered since the start. */
  double answeredPerSecond() {
    return answered.sum() / ((System.nanoTime() - startNanos) / 1e9);
  }

  /** Ends it, and waits for the last answers. */
  @Override
  public void close() {
    blowing.close();
    free.acquireUninterruptibly(MAX_IN_FLIGHT);
  }
}
