// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import io.isolde.oracle.group.Stable;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * The format of an outbound queue's messages: their version, when it was sent, then batch items,
 * each with its length. Of a batch item: the commit that is applied with it, or 0, then mutations,
 * each with its length. Of an answer: a byte for each batch item, then what is stable, if that is
 * told.
 */
final class BatchFrames {
  /** For a batch item that the replica has; anything else means that it did not take it. */
  static final byte DONE = 1;

  /** Instead of a commit that is applied. */
  static final long NO_COMMIT = 0;

  private BatchFrames() {}

  /**
   * What a message holds.
   *
   * @param version of Cassandra's format
   * @param sentAtMillis by the sender's clock
   */
  record Frame(int version, long sentAtMillis, List<Content> items) {}

  /**
   * What a batch item holds.
   *
   * @param appliedCommit the commit that is on a quorum everywhere when this batch item is here;
   *     {@link #NO_COMMIT} if more is needed
   */
  record Content(long appliedCommit, List<ByteBuffer> mutations) {}

  /**
   * What a replica says to a message.
   *
   * @param done for each batch item, whether the replica has it
   */
  record Answer(List<Boolean> done, Optional<Stable> stable) {}

  static byte[] item(long appliedCommit, Collection<byte[]> mutations) {
    int bytes = Long.BYTES;
    for (byte[] mutation : mutations) {
      bytes += Integer.BYTES + mutation.length;
    }
    ByteBuffer out = ByteBuffer.allocate(bytes).putLong(appliedCommit);
    mutations.forEach(mutation -> out.putInt(mutation.length).put(mutation));
    return out.array();
  }

  static byte[] encode(int version, long sentAtMillis, List<byte[]> items) {
    int bytes = Integer.BYTES + Long.BYTES;
    for (byte[] item : items) {
      bytes += Integer.BYTES + item.length;
    }
    ByteBuffer out = ByteBuffer.allocate(bytes).putInt(version).putLong(sentAtMillis);
    items.forEach(item -> out.putInt(item.length).put(item));
    return out.array();
  }

  static Frame decode(byte[] frame) {
    ByteBuffer in = ByteBuffer.wrap(frame);
    int version = in.getInt();
    long sentAtMillis = in.getLong();
    List<Content> items = new ArrayList<>();
    for (ByteBuffer item : slices(in)) {
      items.add(new Content(item.getLong(), slices(item)));
    }
    return new Frame(version, sentAtMillis, items);
  }

  /** The rest, piece by piece. */
  private static List<ByteBuffer> slices(ByteBuffer in) {
    List<ByteBuffer> slices = new ArrayList<>();
    while (in.hasRemaining()) {
      ByteBuffer slice = in.slice(in.position() + Integer.BYTES, in.getInt());
      in.position(in.position() + slice.remaining());
      slices.add(slice);
    }
    return slices;
  }

  static byte[] encode(Answer answer) {
    int ofStable = answer.stable().isPresent() ? 2 * Long.BYTES : 0;
    ByteBuffer out = ByteBuffer.allocate(answer.done().size() + ofStable);
    answer.done().forEach(isDone -> out.put(isDone ? DONE : 0));
    answer.stable().ifPresent(stable -> out.putLong(stable.timestamp()).putLong(stable.epoch()));
    return out.array();
  }

  /** Empty if it is no answer to so many batch items. */
  static Optional<Answer> decodeAnswer(byte[] answer, int items) {
    boolean hasStable = answer.length == items + 2 * Long.BYTES;
    if (answer.length != items && !hasStable) {
      return Optional.empty();
    }
    ByteBuffer in = ByteBuffer.wrap(answer);
    List<Boolean> done = new ArrayList<>(items);
    for (int i = 0; i < items; i++) {
      done.add(in.get() == DONE);
    }
    return Optional.of(
        new Answer(
            done,
            hasStable ? Optional.of(new Stable(in.getLong(), in.getLong())) : Optional.empty()));
  }
}
