// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.lane;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Many mutations in one message: their format, when it was sent, then each with its length. */
final class LaneFrames {
  private LaneFrames() {}

  /**
   * What a message holds.
   *
   * @param version of Cassandra's format
   * @param sentAtMillis by the sender's clock
   */
  record Frame(int version, long sentAtMillis, List<ByteBuffer> mutations) {}

  static byte[] encode(int version, long sentAtMillis, List<byte[]> mutations) {
    int bytes = Long.BYTES + Integer.BYTES * (1 + mutations.size());
    for (byte[] mutation : mutations) {
      bytes += mutation.length;
    }
    ByteBuffer out = ByteBuffer.allocate(bytes).putInt(version).putLong(sentAtMillis);
    mutations.forEach(mutation -> out.putInt(mutation.length).put(mutation));
    return out.array();
  }

  static Frame decode(byte[] frame) {
    ByteBuffer in = ByteBuffer.wrap(frame);
    int version = in.getInt();
    long sentAtMillis = in.getLong();
    List<ByteBuffer> mutations = new ArrayList<>();
    while (in.hasRemaining()) {
      ByteBuffer mutation = in.slice(in.position() + Integer.BYTES, in.getInt());
      in.position(in.position() + mutation.remaining());
      mutations.add(mutation);
    }
    return new Frame(version, sentAtMillis, mutations);
  }
}
