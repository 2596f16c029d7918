// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import io.isolde.cluster.ToolException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * Keeps a number of requests in flight for some time: as soon as one is answered, the next is sent.
 *
 * <p>While a node stalls nothing is sent, as with clients that wait for their answers. So the
 * percentiles are those of such clients, not of requests that arrive at their own pace.
 */
final class ClosedLoop {
  private static final long MAX_MICROS = TimeUnit.MINUTES.toMicros(5);
  private static final int SIGNIFICANT_DIGITS = 3;

  /** What the last requests may take after the end; the driver gives up before. */
  private static final Duration GRACE = Duration.ofSeconds(60);

  private final Workload workload;
  private final Duration duration;
  private final Histogram micros = new ConcurrentHistogram(MAX_MICROS, SIGNIFICANT_DIGITS);
  private final LongAdder inTime = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private final AtomicReference<String> firstError = new AtomicReference<>();
  private final CountDownLatch running;
  private final long deadlineNanos;

  private ClosedLoop(Workload workload, int inFlight, Duration duration) {
    this.workload = workload;
    this.duration = duration;
    this.running = new CountDownLatch(inFlight);
    this.deadlineNanos = System.nanoTime() + duration.toNanos();
  }

  /** Runs for the given time, and until the last request is answered. */
  static Measurement run(Workload workload, int inFlight, Duration duration) {
    ClosedLoop loop = new ClosedLoop(workload, inFlight, duration);
    for (int i = 0; i < inFlight; i++) {
      loop.sendNext();
    }
    loop.await();
    return loop.measurement();
  }

  /** A loop, since a request may be answered before this thread looks; else the answer goes on. */
  private void sendNext() {
    while (deadlineNanos - System.nanoTime() > 0) {
      long sentNanos = System.nanoTime();
      CompletableFuture<?> answer = answer();
      if (!answer.isDone()) {
        var unused =
            answer.whenComplete(
                (result, error) -> {
                  record(sentNanos, error);
                  sendNext();
                });
        return;
      }
      record(sentNanos, answer.handle((result, error) -> error).join());
    }
    running.countDown();
  }

  private CompletableFuture<?> answer() {
    try {
      return workload.send().toCompletableFuture();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private void record(long sentNanos, Throwable error) {
    long now = System.nanoTime();
    if (error != null) {
      errors.increment();
      firstError.compareAndSet(null, describe(error));
      return;
    }
    micros.recordValue(Math.min((now - sentNanos) / 1000, MAX_MICROS));
    if (deadlineNanos - now >= 0) {
      inTime.increment();
    }
  }

  private static String describe(Throwable error) {
    Throwable cause =
        error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    return cause.toString();
  }

  private void await() {
    try {
      if (!running.await(duration.plus(GRACE).toMillis(), TimeUnit.MILLISECONDS)) {
        throw new ToolException(
            "%d requests were not answered within %d s."
                .formatted(running.getCount(), GRACE.toSeconds()));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException("The measurement was interrupted.", e);
    }
  }

  private Measurement measurement() {
    return new Measurement(
        inTime.sum(),
        inTime.sum() / (duration.toNanos() / 1e9),
        micros.getMean() / 1e3,
        micros.getValueAtPercentile(50) / 1e3,
        micros.getValueAtPercentile(99) / 1e3,
        errors.sum(),
        Optional.ofNullable(firstError.get()));
  }
}
