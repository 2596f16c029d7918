// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.TooLongFrameException;
import java.util.List;

/**
 * Divides what comes into lines, which keep their ends. Only CR LF ends a line: who takes LF alone
 * for an end can be made to see two messages.
 *
 * <p>A line that is too long is a TooLongFrameException, and nothing comes after it. Netty's
 * decoder for delimiters of several bytes does the same, but took half of the processor time of
 * SMTP.
 */
final class LineDecoder extends ByteToMessageDecoder {
  private final int maxBytes;

  /** So many of the bytes that have not been read yet have been searched, and end no line. */
  private int searched;

  private boolean isOver;

  /**
   * A decoder for one connection.
   *
   * @param maxBytes of a line without its end
   */
  LineDecoder(int maxBytes) {
    this.maxBytes = maxBytes;
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> lines) {
    if (isOver) {
      in.skipBytes(in.readableBytes());
      return;
    }
    int length = lengthOfLine(in);
    int known = length < 0 ? knownBytes(in) : length - 2;
    if (known > maxBytes) {
      isOver = true;
      in.skipBytes(in.readableBytes());
      throw new TooLongFrameException("A line has more than %d bytes".formatted(maxBytes));
    }
    if (length < 0) {
      searched = in.readableBytes();
      return;
    }
    searched = 0;
    lines.add(in.readRetainedSlice(length));
  }

  /** Of a line whose end has not come, or half of it. */
  private static int knownBytes(ByteBuf in) {
    boolean mayEnd = in.isReadable() && in.getByte(in.writerIndex() - 1) == '\r';
    return in.readableBytes() - (mayEnd ? 1 : 0);
  }

  /** With its end; -1 if the end has not come yet. */
  private int lengthOfLine(ByteBuf in) {
    int start = in.readerIndex();
    int from = start + searched;
    while (true) {
      int feed = in.indexOf(from, in.writerIndex(), (byte) '\n');
      if (feed < 0) {
        return -1;
      }
      if (feed > start && in.getByte(feed - 1) == '\r') {
        return feed + 1 - start;
      }
      from = feed + 1;
    }
  }
}
