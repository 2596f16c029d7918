// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/** A byte buffer that grows as it is written. Reading is a {@link ByteBuffer}'s. */
public final class Bytes {
  private ByteBuffer buffer;

  public Bytes(int expectedBytes) {
    buffer = ByteBuffer.allocate(Math.max(16, expectedBytes));
  }

  public Bytes put(int aByte) {
    room(Byte.BYTES).put((byte) aByte);
    return this;
  }

  public Bytes putInt(int value) {
    room(Integer.BYTES).putInt(value);
    return this;
  }

  public Bytes putLong(long value) {
    room(Long.BYTES).putLong(value);
    return this;
  }

  Bytes putLongs(long[] values) {
    putInt(values.length);
    ByteBuffer target = room(Math.multiplyExact(values.length, Long.BYTES));
    target.asLongBuffer().put(values);
    target.position(target.position() + values.length * Long.BYTES);
    return this;
  }

  Bytes put(byte[] source, int count) {
    room(count).put(source, 0, count);
    return this;
  }

  /** With their number before them. */
  Bytes putBytes(byte[] values) {
    return putInt(values.length).put(values, values.length);
  }

  Bytes putText(String text) {
    return putBytes(text.getBytes(StandardCharsets.UTF_8));
  }

  Bytes putId(UUID id) {
    return putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
  }

  /** All that was written. Nothing may be written after. */
  public byte[] toArray() {
    return buffer.position() == buffer.capacity()
        ? buffer.array()
        : Arrays.copyOf(buffer.array(), buffer.position());
  }

  static long[] longs(ByteBuffer source) {
    int count = source.getInt();
    if (count < 0 || count > source.remaining() / Long.BYTES) {
      throw new IllegalArgumentException("A message has a list of " + count + " ids in it.");
    }
    long[] values = new long[count];
    source.asLongBuffer().get(values);
    source.position(source.position() + count * Long.BYTES);
    return values;
  }

  static byte[] bytes(ByteBuffer source) {
    int count = source.getInt();
    if (count < 0 || count > source.remaining()) {
      throw new IllegalArgumentException("A message has " + count + " bytes in it.");
    }
    byte[] values = new byte[count];
    source.get(values);
    return values;
  }

  static String text(ByteBuffer source) {
    return new String(bytes(source), StandardCharsets.UTF_8);
  }

  static UUID id(ByteBuffer source) {
    return new UUID(source.getLong(), source.getLong());
  }

  private ByteBuffer room(int bytes) {
    if (buffer.remaining() < bytes) {
      int needed = Math.addExact(buffer.position(), bytes);
      byte[] larger = Arrays.copyOf(buffer.array(), Math.max(needed, 2 * buffer.capacity()));
      buffer = ByteBuffer.wrap(larger).position(buffer.position());
    }
    return buffer;
  }
}
