// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;

/** The small things that requests and responses are made of. */
final class Wire {
  private static final ByteBufAllocator ALLOCATOR = PooledByteBufAllocator.DEFAULT;

  private Wire() {}

  static ByteBuf of(byte first) {
    return ALLOCATOR.buffer(32).writeByte(first);
  }

  static ByteBuf of(byte first, long argument) {
    return ALLOCATOR.buffer(16).writeByte(first).writeLong(argument);
  }

  /** What is left, as heap bytes. */
  static ByteBuffer rest(ByteBuf buffer) {
    return ByteBuffer.wrap(bytes(buffer));
  }

  /** What is left. */
  static byte[] bytes(ByteBuf buffer) {
    byte[] bytes = new byte[buffer.readableBytes()];
    buffer.readBytes(bytes);
    return bytes;
  }

  static void write(ByteBuf out, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    out.writeShort(bytes.length).writeBytes(bytes);
  }

  static String text(ByteBuf in) {
    return in.readCharSequence(in.readUnsignedShort(), StandardCharsets.UTF_8).toString();
  }

  static void write(ByteBuf out, UUID id) {
    out.writeLong(id.getMostSignificantBits()).writeLong(id.getLeastSignificantBits());
  }

  static ByteBuf write(ByteBuf out, Collection<Long> longs) {
    out.writeInt(longs.size());
    longs.forEach(out::writeLong);
    return out;
  }

  static List<Long> longs(ByteBuf in) {
    int count = in.readInt();
    if (count < 0 || count > in.readableBytes() / Long.BYTES) {
      throw new IllegalArgumentException("There are no " + count + " numbers in it.");
    }
    List<Long> longs = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      longs.add(in.readLong());
    }
    return longs;
  }

  static UUID id(ByteBuf in) {
    return new UUID(in.readLong(), in.readLong());
  }

  static void write(ByteBuf out, InetSocketAddress address) {
    write(out, address.getHostString());
    out.writeShort(address.getPort());
  }

  static InetSocketAddress address(ByteBuf in) {
    String host = text(in);
    return new InetSocketAddress(host, in.readUnsignedShort());
  }
}
