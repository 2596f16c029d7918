// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteBuffer;

/** Writes and reads many longs at once, in the byte order of {@link DataOutput#writeLong}. */
final class LongArrays {
  private static final int CHUNK_LONGS = 8192;

  private LongArrays() {}

  static void write(long[] values, DataOutput out) throws IOException {
    write(values, 0, values.length, out);
  }

  static void write(long[] values, int from, int count, DataOutput out) throws IOException {
    byte[] chunk = new byte[Math.min(count, CHUNK_LONGS) * Long.BYTES];
    for (int done = 0; done < count; done += CHUNK_LONGS) {
      int longs = Math.min(count - done, CHUNK_LONGS);
      ByteBuffer.wrap(chunk).asLongBuffer().put(values, from + done, longs);
      out.write(chunk, 0, longs * Long.BYTES);
    }
  }

  /** Fills an array. */
  static void read(long[] values, DataInput in) throws IOException {
    read(values, 0, values.length, in);
  }

  static void read(long[] values, int from, int count, DataInput in) throws IOException {
    byte[] chunk = new byte[Math.min(count, CHUNK_LONGS) * Long.BYTES];
    for (int done = 0; done < count; done += CHUNK_LONGS) {
      int longs = Math.min(count - done, CHUNK_LONGS);
      in.readFully(chunk, 0, longs * Long.BYTES);
      ByteBuffer.wrap(chunk).asLongBuffer().get(values, from + done, longs);
    }
  }
}
