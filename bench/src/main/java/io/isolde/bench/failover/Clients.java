// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.failover;

import io.isolde.bench.kit.Workload;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;

/**
 * Clients that send one request after the other, until they are closed; with a clock for the time
 * in which none of them succeeds.
 */
final class Clients implements AutoCloseable {
  private static final long AFTER_FAILURE_MILLIS = 10;

  /** A request that takes longer than this is not waited for at the end. */
  private static final int PATIENCE_SECONDS = 30;

  private final Workload workload;
  private final long pauseMillis;
  private final GapClock successes = new GapClock();
  private final List<GapClock> ofEach;
  private final LongAdder failed = new LongAdder();
  private final CountDownLatch running;
  private volatile String lastFailure = "none";
  private volatile boolean isOver;

  /**
   * Starts so many clients.
   *
   * @param pauseMillis of a client after a success; 0 only if answers are never there at once
   */
  Clients(Workload workload, int clients, long pauseMillis) {
    this.workload = workload;
    this.pauseMillis = pauseMillis;
    running = new CountDownLatch(clients);
    ofEach = Stream.generate(GapClock::new).limit(clients).toList();
    ofEach.forEach(this::next);
  }

  private void next(GapClock own) {
    if (isOver) {
      running.countDown();
      return;
    }
    var unused = answer().whenComplete((done, error) -> answered(own, error));
  }

  private CompletionStage<?> answer() {
    try {
      return workload.send();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private void answered(GapClock own, Throwable error) {
    if (error == null) {
      own.success();
      successes.success();
    } else if (!isOver) {
      failed.increment();
      Throwable cause = error instanceof CompletionException ? error.getCause() : error;
      lastFailure = String.valueOf(cause.getMessage());
    }
    long waitMillis = error == null ? pauseMillis : AFTER_FAILURE_MILLIS;
    if (waitMillis == 0) {
      next(own);
    } else { // By another thread: answers that are there at once would call one another.
      later(waitMillis, () -> next(own));
    }
  }

  static void later(long millis, Runnable step) {
    CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS).execute(step);
  }

  /** Of all clients together. */
  GapClock successes() {
    return successes;
  }

  /** Of each client. */
  List<GapClock> ofEach() {
    return ofEach;
  }

  /** Requests that got an error, or no answer within their time. */
  long failed() {
    return failed.sum();
  }

  String lastFailure() {
    return lastFailure;
  }

  /** Waits until the requests that are under way have ended, for some time. */
  @Override
  public void close() {
    isOver = true;
    try {
      var unused = running.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
