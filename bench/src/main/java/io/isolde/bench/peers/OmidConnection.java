// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.peers;

import io.isolde.bench.kit.Pause;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * A connection to Omid's oracle that speaks as much of its protocol ({@code TSOProto}, Protocol
 * Buffers behind a length) as commits need. Omid's own client takes all answers through a state
 * machine on one thread; this one has no such bottleneck.
 */
public final class OmidConnection extends ChannelInboundHandlerAdapter implements AutoCloseable {
  private static final int MAX_FRAME_BYTES = 1 << 16;
  private static final int LENGTH_BYTES = 4;

  /** A field of a Protocol Buffers message: its number, and whether it has a length. */
  private static final int VARINT = 0;

  private static final int DELIMITED = 2;

  private static final int TIMESTAMP = 1;
  private static final int COMMIT = 2;
  private static final int HANDSHAKE = 3;

  private final Channel channel;
  private final CompletableFuture<Long> timestamp = new CompletableFuture<>();

  /** Who waits for which start timestamp; only touched on the event loop. */
  private final Map<Long, CompletableFuture<Long>> waiting = new HashMap<>();

  /** Connects and waits for a first timestamp. */
  public OmidConnection(InetSocketAddress address, EventLoopGroup group) {
    channel =
        new Bootstrap()
            .group(group)
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .handler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel opened) {
                    opened
                        .pipeline()
                        .addLast(
                            new LengthFieldBasedFrameDecoder(
                                MAX_FRAME_BYTES, 0, LENGTH_BYTES, 0, LENGTH_BYTES))
                        .addLast(new FlushConsolidationHandler(256, true))
                        .addLast(OmidConnection.this);
                  }
                })
            .connect(address)
            .syncUninterruptibly()
            .channel();
    // A handshake with one empty field, the client's capabilities; then a request without fields.
    send(
        channel
            .alloc()
            .buffer()
            .writeInt(4)
            .writeByte(tag(HANDSHAKE, DELIMITED))
            .writeByte(2)
            .writeByte(tag(1, DELIMITED))
            .writeByte(0));
    send(channel.alloc().buffer().writeInt(2).writeByte(tag(TIMESTAMP, DELIMITED)).writeByte(0));
    Pause.until("Omid gives a timestamp", 30, timestamp::isDone);
  }

  /** A timestamp from when it was opened. */
  public long firstTimestamp() {
    return timestamp.join();
  }

  /**
   * Asks for a commit.
   *
   * @param start different for all requests
   * @return the commit timestamp; 0 if it is aborted
   */
  public CompletableFuture<Long> commit(long start, long[] cells) {
    CompletableFuture<Long> answer = new CompletableFuture<>();
    if (channel.eventLoop().inEventLoop()) {
      commitNow(start, cells, answer);
    } else {
      channel.eventLoop().execute(() -> commitNow(start, cells, answer));
    }
    return answer;
  }

  private void commitNow(long start, long[] cells, CompletableFuture<Long> answer) {
    if (!channel.isActive()) {
      answer.completeExceptionally(new IllegalStateException("Omid has hung up."));
      return;
    }
    waiting.put(start, answer);
    int cellBytes = 0;
    for (long cell : cells) {
      cellBytes += varintBytes(cell);
    }
    int bytes = 1 + varintBytes(start) + 1 + varintBytes(cellBytes) + cellBytes;
    ByteBuf out = channel.alloc().buffer(bytes + 16);
    out.writeInt(1 + varintBytes(bytes) + bytes);
    writeVarint(out.writeByte(tag(COMMIT, DELIMITED)), bytes);
    writeVarint(out.writeByte(tag(1, VARINT)), start);
    writeVarint(out.writeByte(tag(3, DELIMITED)), cellBytes);
    for (long cell : cells) {
      writeVarint(out, cell);
    }
    send(out);
  }

  private void send(ByteBuf frame) {
    var unused = channel.writeAndFlush(frame, channel.voidPromise());
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf frame = (ByteBuf) message;
    try {
      int field = (int) readVarint(frame) >>> 3;
      ByteBuf content = frame.readSlice((int) readVarint(frame));
      if (field == TIMESTAMP) {
        timestamp.complete(fields(content)[1]);
      } else if (field == COMMIT) {
        long[] fields = fields(content);
        CompletableFuture<Long> answer = waiting.remove(fields[2]);
        if (answer != null) {
          answer.complete(fields[1] != 0 ? 0 : fields[3]);
        }
      }
    } finally {
      frame.release();
    }
  }

  /** The numbers of a message, by field. */
  private static long[] fields(ByteBuf content) {
    long[] fields = new long[8];
    while (content.isReadable()) {
      int tag = (int) readVarint(content);
      fields[tag >>> 3] = readVarint(content);
    }
    return fields;
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    var lost = waiting.values().toArray(new CompletableFuture<?>[0]);
    waiting.clear();
    for (CompletableFuture<?> answer : lost) {
      answer.completeExceptionally(new IllegalStateException("Omid has hung up."));
    }
  }

  private static int tag(int field, int kind) {
    return (field << 3) | kind;
  }

  private static int varintBytes(long value) {
    return Math.max(1, (Long.SIZE - Long.numberOfLeadingZeros(value) + 6) / 7);
  }

  private static void writeVarint(ByteBuf out, long value) {
    long rest = value;
    while ((rest & ~0x7FL) != 0) {
      out.writeByte(((int) rest & 0x7F) | 0x80);
      rest >>>= 7;
    }
    out.writeByte((int) rest);
  }

  private static long readVarint(ByteBuf in) {
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      byte next = in.readByte();
      value |= (long) (next & 0x7F) << shift;
      if (next >= 0) {
        return value;
      }
    }
  }

  @Override
  public void close() {
    channel.close().awaitUninterruptibly();
  }
}
