// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.isolde.raft.transport.TransportException.Reason;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The caller's end of a connection. It is open once; whoever wants another connects again. */
final class ClientConnection extends ChannelDuplexHandler implements PeerClient {
  private static final Logger log = LoggerFactory.getLogger(ClientConnection.class);

  private final TransportSettings settings;
  private final Frame greeting;
  private final OtherBuilds otherBuilds;
  private final Runnable onClosed;
  private final CompletableFuture<ClientConnection> ready = new CompletableFuture<>();
  private final AtomicLong requestIds = new AtomicLong();

  /** Requests without an answer; at most {@link TransportSettings#maxInFlight}. */
  private final AtomicInteger inFlight = new AtomicInteger();

  /**
   * Whom to tell; only touched on the event loop. Netty's own map of longs does not mix the bits of
   * its keys: of ids that follow one another, each removal moves many.
   */
  private final Map<Long, ResponseHandler> waiting = new HashMap<>();

  private volatile Channel channel;
  private volatile long lastReadNanos = System.nanoTime();

  /** When a request was sent while none waited for an answer. */
  private volatile long waitingSinceNanos = lastReadNanos;

  /** Only touched on the event loop. */
  private boolean closed;

  private ClientConnection(Dialing dialing, Frame greeting, Runnable onClosed) {
    this.settings = dialing.settings();
    this.otherBuilds = dialing.otherBuilds();
    this.greeting = greeting;
    this.onClosed = onClosed;
  }

  /**
   * Connects and greets.
   *
   * @param purpose as {@link Frame} has them
   * @param name of this node; empty if it is no member
   * @param onClosed called once if the connection was opened and is closed
   */
  static CompletableFuture<ClientConnection> open(
      Dialing dialing, InetSocketAddress address, long purpose, String name, Runnable onClosed) {
    TransportSettings settings = dialing.settings();
    Frame greeting = Frame.greeting(purpose, new Greeting(name, dialing.otherBuilds().own()));
    ClientConnection connection = new ClientConnection(dialing, greeting, onClosed);
    Bootstrap bootstrap =
        new Bootstrap()
            .group(dialing.group())
            .channel(EventLoops.clientChannel())
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.SO_KEEPALIVE, true)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, settings.connectTimeoutMillis())
            .option(ChannelOption.WRITE_BUFFER_WATER_MARK, waterMark(settings))
            .handler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel ch) {
                    dialing
                        .security()
                        .client()
                        .get()
                        .ifPresent(tls -> ch.pipeline().addLast(tls.newHandler(ch.alloc())));
                    ch.pipeline()
                        .addLast(Frame.decoder(settings.maxFrameBytes()))
                        .addLast(new FlushConsolidationHandler(256, true))
                        .addLast(Frame.Encoder.INSTANCE)
                        .addLast(connection);
                  }
                });
    var unused =
        bootstrap
            .connect(address, dialing.localAddress())
            .addListener(
                connected -> {
                  if (!connected.isSuccess()) {
                    greeting.release();
                    connection.ready.completeExceptionally(connected.cause());
                  }
                });
    return connection.ready;
  }

  /** Connects, for requests that are not Raft's. */
  static CompletableFuture<PeerClient> forApplication(
      Dialing dialing, InetSocketAddress address, Runnable onClosed) {
    return open(dialing, address, Frame.PURPOSE_APPLICATION, "", onClosed)
        .thenApply(connection -> connection);
  }

  static WriteBufferWaterMark waterMark(TransportSettings settings) {
    return new WriteBufferWaterMark(settings.highWaterBytes() / 2, settings.highWaterBytes());
  }

  /** Sends a Raft request. Takes over the body. */
  void sendRaft(byte kind, ByteBuf body, ResponseHandler handler) {
    send(Frame.request(kind, requestIds.incrementAndGet(), body, handler));
  }

  @Override
  public void send(byte service, ByteBuf body, ResponseHandler handler) {
    send(Frame.request(service, requestIds.incrementAndGet(), handler, body));
  }

  private void send(Frame frame) {
    TransportException refusal = refusal(frame);
    if (refusal != null) {
      frame.release();
      frame.handler.onFailure(refusal);
      return;
    }
    var unused = channel.writeAndFlush(frame, channel.voidPromise());
  }

  private TransportException refusal(Frame frame) {
    int bytes = frame.content().readableBytes();
    if (bytes > settings.maxFrameBytes()) {
      return new TransportException(
          Reason.TOO_LARGE,
          "A frame of " + bytes + " bytes exceeds maxFrameBytes=" + settings.maxFrameBytes() + ".");
    }
    if (!isOpen() || channel.eventLoop().isShuttingDown()) {
      return new TransportException(Reason.CLOSED, "The connection is closed; nothing was sent.");
    }
    if (!channel.isWritable()) {
      return new TransportException(
          Reason.BUSY, "More than " + settings.highWaterBytes() + " bytes wait to be sent.");
    }
    int now = inFlight.incrementAndGet();
    if (now == 1) {
      waitingSinceNanos = System.nanoTime();
    }
    if (now > settings.maxInFlight()) {
      inFlight.decrementAndGet();
      return new TransportException(
          Reason.BUSY, "More than " + settings.maxInFlight() + " requests wait for an answer.");
    }
    return null;
  }

  @Override
  public boolean isOpen() {
    return channel != null && channel.isActive();
  }

  @Override
  public long unansweredMillis() {
    if (inFlight.get() == 0) {
      return 0;
    }
    long now = System.nanoTime();
    return TimeUnit.NANOSECONDS.toMillis(Math.min(now - waitingSinceNanos, now - lastReadNanos));
  }

  @Override
  public void closeAfter(long millis) {
    var unused =
        channel.eventLoop().schedule((Runnable) this::close, millis, TimeUnit.MILLISECONDS);
  }

  @Override
  public void close() {
    if (channel != null) {
      var unused = channel.close();
    }
  }

  @Override
  public void channelActive(ChannelHandlerContext ctx) {
    channel = ctx.channel();
    var unused = ctx.writeAndFlush(greeting);
    var unusedTimer =
        ctx.executor()
            .schedule(
                () -> {
                  if (!ready.isDone()) {
                    log.debug("{} did not greet back in time", ctx.channel().remoteAddress());
                    var unusedClose = ctx.close();
                  }
                },
                settings.connectTimeoutMillis(),
                TimeUnit.MILLISECONDS);
  }

  @Override
  public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
    if (message instanceof Frame frame && frame.handler != null) {
      if (closed) {
        frame.release();
        frame.handler.onFailure(
            new TransportException(Reason.CLOSED, "The connection is closed; nothing was sent."));
        return;
      }
      waiting.put(frame.requestId, frame.handler);
    }
    var unused = ctx.write(message, promise);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    ByteBuf frame = (ByteBuf) message;
    lastReadNanos = System.nanoTime();
    byte kind = frame.readByte();
    long requestId = frame.readLong();
    if (kind == Frame.GREETING) {
      greetedBack(ctx, Greeting.decode(frame));
      frame.release();
      return;
    }
    ResponseHandler handler = waiting.remove(requestId);
    if (handler == null) {
      frame.release();
      return;
    }
    inFlight.decrementAndGet();
    switch (kind) {
      case Frame.RESPONSE -> handler.onResponse(frame);
      case Frame.BUSY -> {
        frame.release();
        handler.onFailure(
            new TransportException(
                Reason.REMOTE_BUSY, ctx.channel().remoteAddress() + " has too many requests."));
      }
      default -> {
        String reason = frame.toString(StandardCharsets.UTF_8);
        frame.release();
        handler.onFailure(new TransportException(Reason.REMOTE_ERROR, reason));
      }
    }
  }

  private void greetedBack(ChannelHandlerContext ctx, Greeting theirs) {
    InetSocketAddress peer = (InetSocketAddress) ctx.channel().remoteAddress();
    Optional<String> refusal =
        theirs == null
            ? Optional.of(peer + " does not speak our protocol.")
            : otherBuilds.refusal(peer, theirs.formats());
    if (refusal.isEmpty()) {
      ready.complete(this);
    } else {
      ready.completeExceptionally(new TransportException(Reason.OTHER_FORMAT, refusal.get()));
      var unused = ctx.close();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) {
    closed = true;
    TransportException cause =
        new TransportException(
            Reason.CLOSED, "The connection to " + ctx.channel().remoteAddress() + " is closed.");
    List<ResponseHandler> handlers = List.copyOf(waiting.values());
    waiting.clear();
    for (ResponseHandler handler : handlers) {
      handler.onFailure(cause);
    }
    if (!ready.completeExceptionally(cause) && !ready.isCompletedExceptionally()) {
      onClosed.run();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    log.debug("{}: closing because of {}", ctx.channel(), cause.toString());
    ready.completeExceptionally(cause);
    var unused = ctx.close();
  }
}
