// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import io.isolde.raft.ByteBudget;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is on its way to one replica. Without load each batch item is a message of its own and
 * leaves at once; under load those that come while {@value #MAX_IN_FLIGHT} messages have no answer
 * yet leave together. Thread-safe.
 *
 * <p>A message that fails, or is not answered in time, closes the outbound queue for a while: what
 * is in it and what comes meanwhile goes another way.
 */
final class OutboundQueue {
  static final int MAX_IN_FLIGHT = 2;
  static final int MAX_WAITING = 1024;
  static final int MAX_FRAME_BYTES = 1 << 20;

  /**
   * Twice as much is taken of the memory: for batch items, and the messages that they are put into.
   */
  static final int COPIES = 2;

  static final long ANSWER_MILLIS = 1000;
  static final long BACK_OFF_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final Logger logger = LoggerFactory.getLogger(OutboundQueue.class);

  private final Function<List<byte[]>, CompletableFuture<byte[]>> ask;
  private final LongSupplier nowNanos;
  private final ByteBudget memory;
  private final Queue<BatchItem> waiting = new ArrayDeque<>();
  private int inFlight;
  private boolean isBackingOff;
  private long backOffUntilNanos;

  /**
   * @param ask sends a message; its answer is as {@link BatchFrames} says
   * @param memory of all outbound queues of this node, for what has no answer yet
   */
  OutboundQueue(
      Function<List<byte[]>, CompletableFuture<byte[]>> ask,
      LongSupplier nowNanos,
      ByteBudget memory) {
    this.ask = ask;
    this.nowNanos = nowNanos;
    this.memory = memory;
  }

  /**
   * Takes a batch item, or not: if it is too large, too much waits, or the replica did not answer.
   */
  boolean offer(BatchItem item) {
    List<BatchItem> frame;
    synchronized (this) {
      int bytes = item.bytes().length;
      boolean isFull = waiting.size() == MAX_WAITING;
      if (isBackingOff()
          || isFull
          || bytes > MAX_FRAME_BYTES
          || !memory.take(COPIES * (long) bytes)) {
        return false;
      }
      waiting.add(item);
      frame = next();
    }
    send(frame);
    return true;
  }

  private boolean isBackingOff() {
    isBackingOff = isBackingOff && nowNanos.getAsLong() - backOffUntilNanos < 0;
    return isBackingOff;
  }

  /** The next message's batch items; none if it is not its turn yet. Guarded by this. */
  private List<BatchItem> next() {
    List<BatchItem> frame = new ArrayList<>();
    if (inFlight < MAX_IN_FLIGHT) {
      long bytes = 0;
      while (!waiting.isEmpty() && bytes + waiting.peek().bytes().length <= MAX_FRAME_BYTES) {
        bytes += waiting.peek().bytes().length;
        frame.add(waiting.remove());
      }
      inFlight += frame.isEmpty() ? 0 : 1;
    }
    assert inFlight <= MAX_IN_FLIGHT;
    return frame;
  }

  private void send(List<BatchItem> frame) {
    if (frame.isEmpty()) {
      return;
    }
    CompletableFuture<byte[]> answered;
    try {
      answered = ask.apply(frame.stream().map(BatchItem::bytes).toList());
    } catch (RuntimeException | Error e) {
      answered = CompletableFuture.failedFuture(e); // Or its memory would never come back.
    }
    var unused =
        answered
            .orTimeout(ANSWER_MILLIS, TimeUnit.MILLISECONDS)
            .whenComplete(
                (answer, failure) -> {
                  if (failure == null && answer.length == frame.size()) {
                    arrived(frame, answer);
                  } else {
                    lost(frame);
                  }
                });
  }

  private void arrived(List<BatchItem> frame, byte[] answer) {
    List<BatchItem> following;
    synchronized (this) {
      inFlight--;
      following = next();
    }
    give(frame);
    send(following);
    for (int i = 0; i < frame.size(); i++) {
      BatchItem item = frame.get(i);
      inform(answer[i] == BatchFrames.DONE ? item::acknowledged : item::undelivered);
    }
  }

  private void lost(List<BatchItem> frame) {
    List<BatchItem> all = new ArrayList<>(frame);
    synchronized (this) {
      inFlight--;
      isBackingOff = true;
      backOffUntilNanos = nowNanos.getAsLong() + BACK_OFF_NANOS;
      all.addAll(waiting);
      waiting.clear();
    }
    give(all);
    all.forEach(item -> inform(item::undelivered));
  }

  private void give(List<BatchItem> ended) {
    memory.give(COPIES * ended.stream().mapToLong(item -> item.bytes().length).sum());
  }

  /** One that fails must not keep the others of its message waiting. */
  private static void inform(Runnable end) {
    try {
      end.run();
    } catch (RuntimeException e) {
      logger.error("What waits for a part of a commit failed; it is tried again", e);
    }
  }
}
