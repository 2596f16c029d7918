// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.GroupFailure;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** A request that has no answer yet; it can be sent again and again. */
final class Outstanding<T> {
  private final long id;
  private final byte[] body;
  private final long deadlineNanos;
  private final Function<ByteBuf, T> decode;
  private final CompletableFuture<T> answer = new CompletableFuture<>();

  /** When it was sent last. */
  private volatile long sentNanos;

  /** Guarded by this, as the next: whoever says that nothing was done must know of all sends. */
  private int sends;

  private boolean isOver;

  /** Whether a member has to be told again, as it had no room. */
  private volatile boolean isPutOff;

  Outstanding(long id, byte[] body, long deadlineNanos, Function<ByteBuf, T> decode) {
    this.id = id;
    this.body = body;
    this.deadlineNanos = deadlineNanos;
    this.decode = decode;
  }

  long id() {
    return id;
  }

  /** To be sent again later: {@link #takePutOff}. */
  void putOff() {
    isPutOff = true;
  }

  /** Whether it is to be sent again. */
  boolean takePutOff() {
    boolean was = isPutOff;
    isPutOff = false;
    return was;
  }

  /** What to send now; empty if it is not to be sent any more. */
  synchronized Optional<ByteBuf> bodyToSend() {
    if (isOver) {
      return Optional.empty();
    }
    isPutOff = false;
    sentNanos = System.nanoTime();
    sends++;
    return Optional.of(Unpooled.wrappedBuffer(body));
  }

  boolean isOverdue(long nowNanos) {
    return nowNanos - deadlineNanos >= 0;
  }

  /** Whether it was sent before then. */
  synchronized boolean isUnansweredSince(long nanos) {
    return sends > 0 && nanos - sentNanos > 0;
  }

  /** If more than once, an earlier one may have been carried out. */
  synchronized int sends() {
    return sends;
  }

  /** Lets it be sent no more: it is answered. */
  synchronized void end() {
    isOver = true;
  }

  /**
   * Lets it be sent no more, unless it was sent before: then that may have been carried out.
   *
   * @return whether it was sent once
   */
  synchronized boolean endIfSentOnce() {
    isOver |= sends == 1;
    return sends == 1;
  }

  void complete(ByteBuf result) {
    try {
      answer.complete(decode.apply(result));
    } catch (RuntimeException e) {
      answer.completeExceptionally(e);
    }
  }

  void fail(GroupFailure.Reason reason, String message) {
    answer.completeExceptionally(new GroupFailure(reason, message));
  }

  CompletableFuture<T> answer() {
    return answer;
  }
}
