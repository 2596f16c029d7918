// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * What a leader makes of requests that depend on what is stored: one at a time for each partition,
 * and each of them once, however many leaders have got it.
 *
 * <p>Who asks believes the answer to the last attempt. An earlier one may wait at another node,
 * which leads again later. It must not find then that a condition holds that did not before. So a
 * repeated attempt that writes nothing is in the log, too, under the name that {@link
 * RequestId#declined} has.
 */
final class Decisions {
  private static final int LOCKS = 256;
  private static final long PAUSE_MILLIS = 1;

  private final ReplicaGroup group;
  private final GroupStateMachine machine;
  private final WriteQueue queue;
  private final ReentrantLock[] locks = new ReentrantLock[LOCKS];

  Decisions(ReplicaGroup group, GroupStateMachine machine, WriteQueue queue) {
    this.group = group;
    this.machine = machine;
    this.queue = queue;
    for (int i = 0; i < LOCKS; i++) {
      locks[i] = new ReentrantLock();
    }
  }

  /**
   * A request.
   *
   * @param mayBeRepeated whether an attempt before this one had no answer
   * @param decision see {@link ReplicaGroup#decide}
   */
  record Asked<T>(
      RequestId id,
      boolean mayBeRepeated,
      int keyHash,
      long deadlineNanos,
      ReplicaGroup.Decision<T> decision) {}

  /** What a request comes to, and what has to be in the log before that is said. */
  private record Decided<T>(T answer, CompletableFuture<Long> written) {}

  <T> T decide(Asked<T> asked) {
    ReentrantLock lock = locks[Math.floorMod(asked.keyHash(), LOCKS)];
    try {
      if (!lock.tryLock(asked.deadlineNanos() - System.nanoTime(), TimeUnit.NANOSECONDS)) {
        throw timedOut(Reason.TIMED_OUT);
      }
      Decided<T> decided;
      try {
        decided = tryDecide(asked);
        while (decided == null) {
          if (System.nanoTime() > asked.deadlineNanos()) {
            throw timedOut(Reason.TIMED_OUT);
          }
          Thread.sleep(PAUSE_MILLIS); // Others write to the partition without pause.
          decided = tryDecide(asked);
        }
      } finally {
        lock.unlock();
      }
      await(decided.written(), asked.deadlineNanos(), Reason.UNKNOWN);
      return decided.answer();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new GroupFailure(Reason.UNKNOWN, "This node stops.");
    }
  }

  /** Null if somebody else has written to the partition meanwhile. */
  private <T> Decided<T> tryDecide(Asked<T> asked) throws InterruptedException {
    WriteQueue.Place place = queue.place(asked.keyHash());
    await(place.before(), asked.deadlineNanos(), Reason.TIMED_OUT);
    long term = group.term(); // Before the barrier: what comes in between ends it.
    await(group.barrier(), asked.deadlineNanos(), Reason.TIMED_OUT);
    if (isInLog(asked.id(), asked.deadlineNanos())) {
      return done(asked.decision().repeated());
    }
    RequestId declined = asked.id().declined();
    if (isInLog(declined, asked.deadlineNanos())) {
      return done(asked.decision().declined());
    }
    ReplicaGroup.Outcome<T> outcome = asked.decision().decide();
    boolean isDeclined = outcome.payload() == null;
    if (isDeclined && !asked.mayBeRepeated()) {
      return done(outcome.answer());
    }
    Write write =
        new Write(
            isDeclined ? declined : asked.id(),
            term,
            new int[] {asked.keyHash()},
            isDeclined ? asked.decision().nothing() : outcome.payload(),
            outcome.decoded());
    CompletableFuture<Long> written = queue.offerAt(place, write);
    return written == null ? null : new Decided<>(outcome.answer(), written);
  }

  private static <T> Decided<T> done(T answer) {
    return new Decided<>(answer, CompletableFuture.completedFuture(0L));
  }

  private boolean isInLog(RequestId id, long deadlineNanos) throws InterruptedException {
    try {
      OptionalLong before = machine.appliedAt(id, deadlineNanos);
      if (before.isPresent() && before.getAsLong() == RetryWindow.FORGOTTEN) {
        throw RetryWindow.forgotten();
      }
      return before.isPresent();
    } catch (TimeoutException e) {
      throw timedOut(Reason.TIMED_OUT);
    }
  }

  private static void await(CompletableFuture<?> future, long deadlineNanos, Reason late)
      throws InterruptedException {
    try {
      var unused = future.get(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (ExecutionException e) {
      throw GroupFailure.of(e.getCause());
    } catch (TimeoutException e) {
      throw timedOut(late);
    }
  }

  private static GroupFailure timedOut(Reason reason) {
    return new GroupFailure(reason, "The leader did not get to it in time.");
  }
}
