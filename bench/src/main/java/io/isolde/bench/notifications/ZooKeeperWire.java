// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.LengthFieldBasedFrameDecoder;
import io.netty.util.concurrent.ScheduledFuture;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A session of ZooKeeper, by its own protocol. Its Java client has two threads for each session,
 * too many for thousands in a process. All of it is called by its event loop.
 */
final class ZooKeeperWire extends WatcherWire<ByteBuf> {
  static final int CREATE = 1;
  static final int SET_DATA = 5;
  static final int ADD_WATCH = 106;
  private static final int PING = 11;
  private static final int CLOSE = -11;
  private static final int XID_OF_EVENT = -1;
  private static final int XID_OF_PING = -2;

  private static final int SESSION_TIMEOUT_MILLIS = 30_000;
  private static final int PING_SECONDS = 10;
  private static final int PASSWORD_BYTES = 16;
  private static final int MAX_FRAME_BYTES = 1 << 20;

  /** Who has the session. */
  interface Owner {
    void opened(ZooKeeperWire session);

    /** A persistent watch has an event; it names its transaction since ZooKeeper 3.9. */
    void changed(long transaction);

    /** It has ended, or could not be opened; comes once. */
    void closed();
  }

  /**
   * An answer.
   *
   * @param transaction the last one that the server had applied
   * @param error 0 if there is none
   */
  record Answer(long transaction, int error, ByteBuf body) {}

  private final Owner owner;

  /** Answers come in the order of the requests. */
  private final Deque<Consumer<Answer>> waiting = new ArrayDeque<>();

  private ChannelHandlerContext context;
  private boolean isOpen;
  private int lastXid;

  private ZooKeeperWire(Gate gate, Owner owner) {
    super(gate, owner::closed);
    this.owner = owner;
  }

  /** Connects, when the gate lets it. */
  static void connect(EventLoop loop, InetSocketAddress address, Gate gate, Owner owner) {
    new ZooKeeperWire(gate, owner).connect(loop, address);
  }

  @Override
  void addCodec(ChannelPipeline pipeline) {
    pipeline.addLast(
        new LengthFieldBasedFrameDecoder(MAX_FRAME_BYTES, 0, Integer.BYTES, 0, Integer.BYTES));
  }

  @Override
  public void channelActive(ChannelHandlerContext active) {
    context = active;
    send(
        body -> {
          body.writeInt(0); // The version of the protocol.
          body.writeLong(0); // The last transaction seen.
          body.writeInt(SESSION_TIMEOUT_MILLIS);
          body.writeLong(0); // A new session.
          body.writeInt(PASSWORD_BYTES).writeZero(PASSWORD_BYTES);
          body.writeBoolean(false); // Not from a server that has no quorum.
        });
  }

  private void send(Consumer<ByteBuf> content) {
    ByteBuf frame = context.alloc().buffer();
    frame.writeInt(0);
    content.accept(frame);
    frame.setInt(0, frame.readableBytes() - Integer.BYTES);
    var unused = context.writeAndFlush(frame);
  }

  /** Sends a request; its answer is handed over by the event loop. */
  void request(int type, Consumer<ByteBuf> content, Consumer<Answer> answered) {
    waiting.add(answered);
    send(body -> content.accept(body.writeInt(++lastXid).writeInt(type)));
  }

  /** Ends the session, so that no server has to wait for its time-out. */
  void close() {
    if (context != null && context.channel().isActive()) {
      request(CLOSE, body -> {}, answer -> {});
    }
  }

  static void write(ByteBuf body, String text) {
    write(body, text.getBytes(StandardCharsets.UTF_8));
  }

  static void write(ByteBuf body, byte[] bytes) {
    body.writeInt(bytes.length).writeBytes(bytes);
  }

  @Override
  protected void channelRead0(ChannelHandlerContext from, ByteBuf frame) {
    if (!isOpen) {
      opened();
      return;
    }
    int xid = frame.readInt();
    long transaction = frame.readLong();
    int error = frame.readInt();
    if (xid == XID_OF_EVENT) {
      owner.changed(transaction);
    } else if (xid != XID_OF_PING) {
      waiting.remove().accept(new Answer(transaction, error, frame));
    }
  }

  private void opened() {
    isOpen = true;
    leaveGate();
    ScheduledFuture<?> pinging =
        context
            .executor()
            .scheduleAtFixedRate(this::ping, PING_SECONDS, PING_SECONDS, TimeUnit.SECONDS);
    context.channel().closeFuture().addListener(closed -> pinging.cancel(false));
    owner.opened(this);
  }

  private void ping() {
    send(body -> body.writeInt(XID_OF_PING).writeInt(PING));
  }
}
