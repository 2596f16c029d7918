// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.DefaultByteBufHolder;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import java.nio.charset.StandardCharsets;

/**
 * A message on its way out: int length of the rest, byte kind, long request id, body. It is counted
 * like its body, so that Netty releases what cannot be written any more.
 */
final class Frame extends DefaultByteBufHolder {
  /**
   * The first frame of a connection: the request id is the purpose, the body a {@link Greeting}.
   */
  static final byte GREETING = 0;

  /** The body starts with a byte for the service. The kinds below are Raft's. */
  static final byte APPLICATION = 16;

  static final byte RESPONSE = 32;
  static final byte ERROR = 33;
  static final byte BUSY = 34;

  static final long PURPOSE_APPLICATION = 0;
  static final long PURPOSE_RAFT = 1;

  private static final int NO_SERVICE = -1;
  private static final int LENGTH_BYTES = 4;
  private static final int HEADER_BYTES = 9;

  /** Below it, one copy is cheaper than two buffers. */
  private static final int COPIED_BYTES = 2048;

  final byte kind;
  final long requestId;
  final ResponseHandler handler;
  private final int service;

  private Frame(byte kind, int service, long requestId, ByteBuf body, ResponseHandler handler) {
    super(body);
    this.kind = kind;
    this.service = service;
    this.requestId = requestId;
    this.handler = handler;
  }

  static Frame answer(byte kind, long requestId, ByteBuf body) {
    return new Frame(kind, NO_SERVICE, requestId, body, null);
  }

  static Frame request(byte kind, long requestId, ByteBuf body, ResponseHandler handler) {
    return new Frame(kind, NO_SERVICE, requestId, body, handler);
  }

  static Frame request(byte service, long requestId, ResponseHandler handler, ByteBuf body) {
    return new Frame(APPLICATION, service & 0xff, requestId, body, handler);
  }

  static Frame error(long requestId, String message) {
    return answer(ERROR, requestId, utf8(message));
  }

  static Frame busy(long requestId) {
    return answer(BUSY, requestId, Unpooled.EMPTY_BUFFER);
  }

  static Frame greeting(long purpose, Greeting greeting) {
    return answer(GREETING, purpose, greeting.encode());
  }

  private static ByteBuf utf8(String text) {
    return Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Cuts the stream into frames, and fails on one that is too long before it is read. */
  static LengthFieldBasedFrameDecoder decoder(int maxFrameBytes) {
    return new LengthFieldBasedFrameDecoder(
        LENGTH_BYTES + HEADER_BYTES + 1 + maxFrameBytes, 0, LENGTH_BYTES, 0, LENGTH_BYTES);
  }

  private void writeHeader(ByteBuf out) {
    int serviceBytes = service == NO_SERVICE ? 0 : 1;
    out.writeInt(HEADER_BYTES + serviceBytes + content().readableBytes());
    out.writeByte(kind).writeLong(requestId);
    if (service != NO_SERVICE) {
      out.writeByte(service);
    }
  }

  /** Writes frames; keeps no state. */
  @Sharable
  static final class Encoder extends ChannelOutboundHandlerAdapter {
    static final Encoder INSTANCE = new Encoder();

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
      if (!(message instanceof Frame frame)) {
        var unused = ctx.write(message, promise);
        return;
      }
      ByteBuf body = frame.content();
      boolean copied = body.readableBytes() <= COPIED_BYTES;
      int headerBytes = LENGTH_BYTES + HEADER_BYTES + 1;
      ByteBuf out = ctx.alloc().ioBuffer(headerBytes + (copied ? body.readableBytes() : 0));
      frame.writeHeader(out);
      if (copied) {
        out.writeBytes(body);
        body.release();
        var unused = ctx.write(out, promise);
      } else {
        var unusedHeader = ctx.write(out);
        var unused = ctx.write(body, promise);
      }
    }
  }
}
