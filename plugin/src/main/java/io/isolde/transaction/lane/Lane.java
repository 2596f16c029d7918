// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.lane;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What is on its way to one replica. Without load each parcel is a message of its own and leaves at
 * once; under load those that come while {@value #MAX_IN_FLIGHT} messages have no answer yet leave
 * together. Thread-safe.
 *
 * <p>A message that fails, or is not answered in time, closes the lane for a while: what is in it
 * and what comes meanwhile goes another way.
 */
final class Lane {
  static final int MAX_IN_FLIGHT = 2;
  static final int MAX_WAITING = 1024;
  static final int MAX_FRAME_BYTES = 1 << 20;
  static final int MAX_WAITING_BYTES = 8 << 20;
  static final long ANSWER_MILLIS = 1000;
  static final long REST_NANOS = TimeUnit.SECONDS.toNanos(5);

  private static final Logger logger = LoggerFactory.getLogger(Lane.class);

  private final Function<List<byte[]>, CompletableFuture<byte[]>> ask;
  private final LongSupplier nowNanos;
  private final Queue<Parcel> waiting = new ArrayDeque<>();
  private long waitingBytes;
  private int inFlight;
  private boolean isResting;
  private long restUntilNanos;

  /**
   * @param ask sends a message; {@link LaneFrames#decodeAnswer} understands the answer
   */
  Lane(Function<List<byte[]>, CompletableFuture<byte[]>> ask, LongSupplier nowNanos) {
    this.ask = ask;
    this.nowNanos = nowNanos;
  }

  /** Takes a parcel, or not: if it is too large, too much waits, or the replica did not answer. */
  boolean offer(Parcel parcel) {
    List<Parcel> frame;
    synchronized (this) {
      int bytes = parcel.bytes().length;
      boolean isFull = waiting.size() == MAX_WAITING || waitingBytes + bytes > MAX_WAITING_BYTES;
      if (isResting() || isFull || bytes > MAX_FRAME_BYTES) {
        return false;
      }
      waiting.add(parcel);
      waitingBytes += bytes;
      frame = next();
    }
    send(frame);
    return true;
  }

  private boolean isResting() {
    isResting = isResting && nowNanos.getAsLong() - restUntilNanos < 0;
    return isResting;
  }

  /** The next message's parcels; none if it is not its turn yet. Guarded by this. */
  private List<Parcel> next() {
    List<Parcel> frame = new ArrayList<>();
    if (inFlight < MAX_IN_FLIGHT) {
      long bytes = 0;
      while (!waiting.isEmpty() && bytes + waiting.peek().bytes().length <= MAX_FRAME_BYTES) {
        bytes += waiting.peek().bytes().length;
        frame.add(waiting.remove());
      }
      waitingBytes -= bytes;
      inFlight += frame.isEmpty() ? 0 : 1;
    }
    assert inFlight <= MAX_IN_FLIGHT && waitingBytes >= 0;
    return frame;
  }

  private void send(List<Parcel> frame) {
    if (frame.isEmpty()) {
      return;
    }
    var unused =
        ask.apply(frame.stream().map(Parcel::bytes).toList())
            .orTimeout(ANSWER_MILLIS, TimeUnit.MILLISECONDS)
            .whenComplete(
                (answer, failure) -> {
                  Optional<LaneFrames.Answer> understood =
                      failure == null
                          ? LaneFrames.decodeAnswer(answer, frame.size())
                          : Optional.empty();
                  understood.ifPresentOrElse(told -> arrived(frame, told), () -> lost(frame));
                });
  }

  private void arrived(List<Parcel> frame, LaneFrames.Answer answer) {
    List<Parcel> following;
    synchronized (this) {
      inFlight--;
      following = next();
    }
    send(following);
    for (int i = 0; i < frame.size(); i++) {
      Parcel parcel = frame.get(i);
      boolean isDone = answer.done().get(i);
      tell(isDone ? () -> parcel.acknowledged(answer.stable()) : parcel::undelivered);
    }
  }

  private void lost(List<Parcel> frame) {
    List<Parcel> all = new ArrayList<>(frame);
    synchronized (this) {
      inFlight--;
      isResting = true;
      restUntilNanos = nowNanos.getAsLong() + REST_NANOS;
      all.addAll(waiting);
      waiting.clear();
      waitingBytes = 0;
    }
    all.forEach(parcel -> tell(parcel::undelivered));
  }

  /** One that fails must not keep the others of its message waiting. */
  private static void tell(Runnable end) {
    try {
      end.run();
    } catch (RuntimeException e) {
      logger.error("What waits for a part of a commit failed; it is tried again", e);
    }
  }
}
