// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.TooLongFrameException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The callee's end of a connection, for Raft or for the application. */
public final class ServerConnection extends ChannelInboundHandlerAdapter implements PeerConnection {
  private static final Logger log = LoggerFactory.getLogger(ServerConnection.class);

  /** The connection was not greeted yet. */
  private static final long PURPOSE_UNKNOWN = -1;

  private final PeerTransport transport;
  private final Channel channel;

  /** Requests without an answer; at most {@link TransportSettings#maxInFlight}. */
  private final AtomicInteger inFlight = new AtomicInteger();

  private final SerialExecutor inOrder;

  private long purpose = PURPOSE_UNKNOWN;
  private final AtomicBoolean isCutOff = new AtomicBoolean();
  private volatile String sender = "";

  ServerConnection(PeerTransport transport, Channel channel) {
    this.transport = transport;
    this.channel = channel;
    this.inOrder = new SerialExecutor(transport.workers(), transport.settings().maxInFlight());
  }

  /** The peer that greeted, empty if it is no member. */
  public String sender() {
    return sender;
  }

  /** Runs what this connection has asked for in the order in which it came, on worker threads. */
  public Executor inOrder() {
    return inOrder;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext ctx) {
    var unused =
        channel
            .eventLoop()
            .schedule(
                () -> {
                  if (purpose == PURPOSE_UNKNOWN && channel.isActive()) {
                    if (transport.isToBeLogged("greeting", channel)) {
                      log.warn("{}: closing, nobody greeted", channel);
                    }
                    var unusedClose = channel.close();
                  }
                },
                transport.settings().connectTimeoutMillis(),
                TimeUnit.MILLISECONDS);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ByteBuf frame = (ByteBuf) message;
    if (frame.readableBytes() < Byte.BYTES + Long.BYTES) {
      frame.release();
      var unused = ctx.close();
      return;
    }
    byte kind = frame.readByte();
    long requestId = frame.readLong();
    if (purpose == PURPOSE_UNKNOWN) {
      greet(ctx, kind, requestId, frame);
    } else if (inFlight.incrementAndGet() > transport.settings().maxInFlight()) {
      frame.release();
      inFlight.decrementAndGet();
      send(Frame.busy(requestId));
      flush();
    } else if (purpose == Frame.PURPOSE_RAFT) {
      transport.onRaftRequest(this, kind, requestId, frame);
    } else if (kind == Frame.APPLICATION && frame.isReadable()) {
      transport.onRequest(this, frame.readByte(), requestId, frame);
    } else {
      frame.release();
      fail(requestId, "Unknown kind of frame: " + kind);
    }
  }

  private void greet(ChannelHandlerContext ctx, byte kind, long wanted, ByteBuf body) {
    Greeting greeting = kind == Frame.GREETING ? Greeting.decode(body) : null;
    body.release();
    if (greeting == null || (wanted != Frame.PURPOSE_RAFT && wanted != Frame.PURPOSE_APPLICATION)) {
      if (transport.isToBeLogged("protocol", channel)) {
        log.warn("{}: closing, this is not our protocol", channel);
      }
      var unused = ctx.close();
      return;
    }
    OtherBuilds otherBuilds = transport.otherBuilds();
    Frame answer = Frame.greeting(wanted, new Greeting(transport.name(), otherBuilds.own()));
    if (otherBuilds.refusal(remoteAddress(), greeting.formats()).isPresent()) {
      refuse(ctx, greeting, answer);
      return;
    }
    purpose = wanted;
    sender = greeting.sender();
    if (wanted == Frame.PURPOSE_APPLICATION) {
      var unused = ctx.writeAndFlush(answer);
      return;
    }
    // Raft has event loops of its own. The other side sends nothing before we greet back, so
    // nothing is lost while the connection moves.
    var unused = channel.deregister().addListener(gone -> moveToRaft(answer));
  }

  /** The other side sees in the answer why, if it can read it. */
  private static void refuse(ChannelHandlerContext ctx, Greeting greeting, Frame answer) {
    if (greeting.formats().equals(Formats.UNSTATED)) {
      answer.release();
      var unused = ctx.close();
    } else {
      var unused = ctx.writeAndFlush(answer).addListener(ChannelFutureListener.CLOSE);
    }
  }

  private void moveToRaft(Frame answer) {
    if (!channel.isOpen()) {
      // This loop has yet to forget it, and must not touch the other loop's connections for that.
      answer.release();
      return;
    }
    var unused =
        transport
            .loops()
            .raft()
            .register(channel)
            .addListener(
                moved -> {
                  if (moved.isSuccess()) {
                    var unusedWrite = channel.writeAndFlush(answer);
                  } else {
                    answer.release();
                    var unusedClose = channel.close();
                  }
                });
  }

  @Override
  public void write(long requestId, ByteBuf body) {
    inFlight.decrementAndGet();
    if (body.readableBytes() > transport.settings().maxFrameBytes()) {
      int bytes = body.readableBytes();
      body.release();
      send(Frame.error(requestId, "The answer of " + bytes + " bytes exceeds maxFrameBytes."));
      return;
    }
    send(Frame.answer(Frame.RESPONSE, requestId, body));
  }

  @Override
  public void fail(long requestId, String message) {
    inFlight.decrementAndGet();
    send(Frame.error(requestId, message));
    flush();
  }

  private void send(Frame frame) {
    int highWater = transport.settings().highWaterBytes();
    if (!channel.isWritable() && channel.bytesBeforeWritable() > highWater + highWater / 2) {
      frame.release();
      if (channel.isActive() && isCutOff.compareAndSet(false, true)) {
        if (transport.isToBeLogged("slow", channel)) {
          log.warn("{}: closing, it does not read its answers", channel);
        }
        var unusedClose = channel.close();
      }
      return;
    }
    var unused = channel.write(frame, channel.voidPromise());
  }

  @Override
  public void flush() {
    channel.flush();
  }

  @Override
  public boolean isOpen() {
    return channel.isActive();
  }

  @Override
  public InetSocketAddress remoteAddress() {
    return (InetSocketAddress) channel.remoteAddress();
  }

  @Override
  public void close() {
    var unused = channel.close();
  }

  /** Who doesn't read answers may not ask more. */
  @Override
  public void channelWritabilityChanged(ChannelHandlerContext ctx) {
    ctx.channel().config().setAutoRead(ctx.channel().isWritable());
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    if (purpose == Frame.PURPOSE_RAFT) {
      transport.onRaftClosed(sender);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    if (cause instanceof TooLongFrameException) {
      if (transport.isToBeLogged("frame", channel)) {
        log.warn("{}: closing, {}", channel, cause.getMessage());
      }
    } else {
      log.debug("{}: closing because of {}", channel, cause.toString());
    }
    var unused = ctx.close();
  }

  @Override
  public String toString() {
    return channel.toString();
  }
}
