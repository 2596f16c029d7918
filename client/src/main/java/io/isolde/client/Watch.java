// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;

/**
 * An open watch; see {@link Isolde#watch}. It asks a node, waits for the answer, and asks again
 * after the answer's position. Whatever happens to nodes and connections in between, each commit is
 * reported once and in order. It ends with {@link #close}, or when it {@linkplain
 * WatchListener#failed fails}.
 */
public final class Watch implements AutoCloseable {
  /**
   * The common pool. Where that has one thread, stages that are given the pool itself start a
   * thread for each task, which thousands of watches can't afford.
   */
  static final Executor COMMON = task -> ForkJoinPool.commonPool().execute(task);

  private static final Backoff PAUSES =
      new Backoff(
          Duration.ofMillis(100),
          Duration.ofSeconds(2),
          Integer.MAX_VALUE,
          Duration.ofSeconds(Long.MAX_VALUE / 4));

  /** Beyond which a pause is as long as it gets. */
  private static final int MAX_FAILURES = 10;

  private final WatchRequests requests;
  private final Timing timing;
  private final WatchListener listener;
  private final Executor executor;
  private volatile OptionalLong position;
  private volatile boolean isOpen = true;

  /** In a row; touched by one thread at a time. */
  private int failures;

  private Watch(
      WatchRequests requests,
      Timing timing,
      OptionalLong after,
      WatchListener listener,
      Executor executor) {
    this.executor = executor;
    this.requests = requests;
    this.timing = timing;
    this.position = after;
    this.listener = listener;
  }

  static Watch start(
      WatchRequests requests,
      Timing timing,
      OptionalLong after,
      WatchListener listener,
      Executor executor) {
    Watch watch = new Watch(requests, timing, after, listener, executor);
    watch.ask();
    return watch;
  }

  /**
   * Up to where the listener has heard of all (a timestamp in microseconds); empty until the first
   * answer of a watch that starts now. A watch after this position goes on here.
   */
  public OptionalLong position() {
    return position;
  }

  /** Whether it goes on. */
  public boolean isOpen() {
    return isOpen;
  }

  /** Ends it. A call of the listener that has begun is not waited for; no other comes after it. */
  @Override
  public void close() {
    isOpen = false;
    requests.close();
  }

  private void ask() {
    var unused =
        Stages.of(() -> requests.ask(position))
            .handleAsync(this::heard, executor)
            .exceptionally(this::rejected);
  }

  /** By the executor, which takes nothing any more. */
  private Void rejected(Throwable error) {
    end(Stages.unwrapped(error));
    return null;
  }

  private Void heard(WatchRequests.Notification notification, Throwable failure) {
    if (isOpen && failure != null) {
      failed(Stages.unwrapped(failure));
    } else if (isOpen) {
      heard(notification);
    }
    return null;
  }

  private void heard(WatchRequests.Notification notification) {
    failures = 0;
    try {
      hand(notification);
    } catch (RuntimeException | Error e) {
      end(e);
      return;
    }
    if (isOpen) {
      ask();
    }
  }

  private void hand(WatchRequests.Notification notification) {
    for (long commit : notification.commits()) {
      if (!isOpen) {
        return;
      }
      listener.changed(commit);
      position = OptionalLong.of(commit);
    }
    if (notification.isLost()) {
      listener.lost(notification.position());
    }
    position = OptionalLong.of(notification.position());
  }

  /** Another node may answer, or this one later: nothing is missed meanwhile. */
  private void failed(Throwable error) {
    Optional<IsoldeException> reported =
        error instanceof IsoldeException pushed
            ? Optional.of(pushed)
            : DriverErrors.reported(error);
    boolean isPassing =
        reported.map(IsoldeException::isRetryable).orElseGet(() -> !DriverErrors.isFinal(error));
    if (!isPassing) {
      end(reported.<Throwable>map(found -> found).orElse(error));
      return;
    }
    failures = Math.min(failures + 1, MAX_FAILURES);
    Duration pause = PAUSES.pauseAfter(failures, Duration.ZERO, timing.jitter()).orElseThrow();
    var unused =
        CompletableFuture.runAsync(
            () -> {
              if (isOpen) {
                ask();
              }
            },
            timing.after(pause));
  }

  private void end(Throwable error) {
    if (!isOpen) {
      return;
    }
    isOpen = false;
    requests.close();
    listener.failed(error instanceof CompletionException ? error.getCause() : error);
  }
}
