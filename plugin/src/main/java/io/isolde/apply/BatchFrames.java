// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * The format of an outbound queue's messages: their version, when it was sent, then batch items,
 * each with its length. A batch item is mutations, each with its length. An answer is a byte for
 * each batch item.
 */
final class BatchFrames {
  /** For a batch item that the replica has; anything else means that it did not take it. */
  static final byte DONE = 1;

  private BatchFrames() {}

  /**
   * What a message holds.
   *
   * @param version of Cassandra's format
   * @param sentAtMillis by the sender's clock
   * @param items the mutations of each batch item
   */
  record Frame(int version, long sentAtMillis, List<List<ByteBuffer>> items) {}

  static byte[] item(Collection<byte[]> mutations) {
    ByteBuffer out = ByteBuffer.allocate(bytes(mutations));
    put(mutations, out);
    return out.array();
  }

  static byte[] encode(int version, long sentAtMillis, List<byte[]> items) {
    ByteBuffer out = ByteBuffer.allocate(Integer.BYTES + Long.BYTES + bytes(items));
    put(items, out.putInt(version).putLong(sentAtMillis));
    return out.array();
  }

  private static int bytes(Collection<byte[]> pieces) {
    return pieces.stream().mapToInt(piece -> Integer.BYTES + piece.length).sum();
  }

  private static void put(Collection<byte[]> pieces, ByteBuffer out) {
    pieces.forEach(piece -> out.putInt(piece.length).put(piece));
  }

  static Frame decode(byte[] frame) {
    ByteBuffer in = ByteBuffer.wrap(frame);
    int version = in.getInt();
    long sentAtMillis = in.getLong();
    return new Frame(version, sentAtMillis, slices(in).stream().map(BatchFrames::slices).toList());
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
}
