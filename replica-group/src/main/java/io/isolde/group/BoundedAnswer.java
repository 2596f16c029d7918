// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.Peer;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Bounds the wait for the answer of a node that is taken for the leader: by time, and by the news
 * that another node leads now. One that hangs or is cut off does not say so itself.
 */
final class BoundedAnswer implements Runnable {
  private static final long LOOK_MILLIS = 50;

  /** So long at most for one that does not lead, as far as is known here; it may hang. */
  static final long DOUBTFUL_MILLIS = 250;

  private final Peer asked;
  private final Supplier<Optional<Peer>> known;
  private final Optional<Peer> knownBefore;
  private final ScheduledExecutorService timer;
  private final long deadlineNanos;
  private final CompletableFuture<byte[]> bounded = new CompletableFuture<>();

  private BoundedAnswer(
      Peer asked, Supplier<Optional<Peer>> known, long millis, ScheduledExecutorService timer) {
    this.asked = asked;
    this.known = known;
    this.knownBefore = known.get();
    this.timer = timer;
    boolean isDoubtful =
        asked != null && knownBefore.isPresent() && !isSame(knownBefore, Optional.of(asked));
    long patienceMillis = isDoubtful ? Math.min(DOUBTFUL_MILLIS, millis) : millis;
    this.deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMillis);
  }

  /**
   * Returns what becomes of an answer, or {@code UNKNOWN}, with the new leader if there is one.
   *
   * @param answer of the one who was asked
   * @param asked null for this node itself, which hears at once when it leads no more
   * @param known who leads as far as this node's replica knows
   * @param millis for how long to wait at most
   */
  static CompletableFuture<byte[]> bounded(
      CompletableFuture<byte[]> answer,
      Peer asked,
      Supplier<Optional<Peer>> known,
      long millis,
      ScheduledExecutorService timer) {
    BoundedAnswer watch = new BoundedAnswer(asked, known, millis, timer);
    var unused = answer.whenComplete(watch::end);
    watch.lookLater();
    return watch.bounded;
  }

  private void end(byte[] bytes, Throwable failure) {
    if (failure == null) {
      bounded.complete(bytes);
    } else {
      bounded.completeExceptionally(failure);
    }
  }

  private void lookLater() {
    long leftMillis = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
    try {
      var unused =
          timer.schedule(
              this, Math.max(1, Math.min(leftMillis, LOOK_MILLIS)), TimeUnit.MILLISECONDS);
    } catch (RejectedExecutionException closed) {
      fail("This node stops.", Optional.empty());
    }
  }

  @Override
  public void run() {
    try {
      look();
    } catch (RuntimeException e) { // Nobody else would ever end the wait.
      bounded.completeExceptionally(GroupFailure.of(e));
    }
  }

  private void look() {
    if (bounded.isDone()) {
      return;
    }
    Optional<Peer> now = asked == null ? Optional.empty() : known.get();
    if (now.isPresent() && !isSame(now, knownBefore) && !isSame(now, Optional.of(asked))) {
      fail(now.get().id() + " leads now.", now);
    } else if (System.nanoTime() - deadlineNanos >= 0) {
      fail("The leader does not answer.", Optional.empty());
    } else {
      lookLater();
    }
  }

  private static boolean isSame(Optional<Peer> one, Optional<Peer> other) {
    return one.map(Peer::id).equals(other.map(Peer::id));
  }

  private void fail(String why, Optional<Peer> leader) {
    bounded.completeExceptionally(new GroupFailure(Reason.UNKNOWN, why, leader, null));
  }
}
