// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The first thing that each side of a connection says. All builds must be able to read it, so it
 * never changes: what else is to be told comes after it.
 *
 * @param sender the peer's id, empty if it is no member
 * @param formats what its build speaks
 */
record Greeting(String sender, Formats formats) {
  private static final int MAX_BYTES = 1024;
  private static final byte[] MAGIC = {'I', 'S', 'O', '2'};

  /** Of builds that did not tell their formats; the id came next. */
  private static final byte[] MAGIC_WITHOUT_FORMATS = {'I', 'S', 'O', '1'};

  ByteBuf encode() {
    byte[] name = sender.getBytes(StandardCharsets.UTF_8);
    return Unpooled.buffer(MAGIC.length + 2 * Integer.BYTES + name.length)
        .writeBytes(MAGIC)
        .writeInt(formats.oldest())
        .writeInt(formats.newest())
        .writeBytes(name);
  }

  /** Null if that is none of Isolde's. */
  static Greeting decode(ByteBuf body) {
    if (body.readableBytes() < MAGIC.length || body.readableBytes() > MAX_BYTES) {
      return null;
    }
    byte[] magic = new byte[MAGIC.length];
    body.readBytes(magic);
    if (Arrays.equals(magic, MAGIC_WITHOUT_FORMATS)) {
      return new Greeting(body.toString(StandardCharsets.UTF_8), Formats.UNSTATED);
    }
    if (!Arrays.equals(magic, MAGIC) || body.readableBytes() < 2 * Integer.BYTES) {
      return null;
    }
    int oldest = body.readInt();
    int newest = body.readInt();
    return oldest < 1 || newest < oldest
        ? null
        : new Greeting(body.toString(StandardCharsets.UTF_8), new Formats(newest, oldest));
  }
}
