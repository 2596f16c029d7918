// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.imap;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.ssl.SslHandshakeCompletionEvent;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.util.ReferenceCountUtil;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.james.imap.api.ImapSessionState;
import org.apache.james.imap.api.process.ImapSession;
import org.apache.james.imapserver.netty.NettyConstants;

/**
 * How fast a client of IMAP may be read. It stands before James' decoder, on the decoder's thread.
 * The next bytes are read when the decoder has seen the last ones and few commands are unanswered.
 * So a client has at most one read and some commands in memory.
 */
@SuppressWarnings("FutureReturnValueIgnored") // Netty closes a channel whose write fails
final class ImapFlow extends ChannelInboundHandlerAdapter {
  /** Clients send some commands before the first answer; more of them wait in the socket. */
  private static final int MAX_UNANSWERED = 16;

  /** What a client may send before it has logged in; a large part is the name and the password. */
  static final int MAX_BYTES_BEFORE_LOGIN = 64 << 10;

  private static final int MAX_BYE_SECONDS = 5;

  private final Duration beforeLogin;
  private ChannelHandlerContext context;
  private Channel channel;
  private ImapSession session;
  private long bytesBeforeLogin;

  /** Commands without an answer, and whether reading waits for one; guarded by this. */
  private int unanswered;

  private boolean isPaused;

  /** Whether nothing in clear is read any more. */
  private volatile boolean isTlsStarting;

  private final AtomicBoolean isEnding = new AtomicBoolean();

  ImapFlow(Duration beforeLogin) {
    this.beforeLogin = beforeLogin;
  }

  InetAddress address() {
    return ((InetSocketAddress) channel.remoteAddress()).getAddress();
  }

  @Override
  public void channelActive(ChannelHandlerContext active) {
    context = active;
    channel = active.channel();
    active.fireChannelActive();
    session = channel.attr(NettyConstants.IMAP_SESSION_ATTRIBUTE_KEY).get();
    channel
        .eventLoop()
        .schedule(
            () -> {
              if (!isLoggedIn()) {
                bye("You have not logged in");
              }
            },
            beforeLogin.toMillis(),
            TimeUnit.MILLISECONDS);
    active.read();
  }

  private boolean isLoggedIn() {
    return session.getState() != ImapSessionState.NON_AUTHENTICATED;
  }

  @Override
  public void channelRead(ChannelHandlerContext unused, Object message) {
    if (isEnding.get()) {
      ReferenceCountUtil.release(message);
      return;
    }
    if (!isLoggedIn() && message instanceof ByteBuf bytes) {
      bytesBeforeLogin += bytes.readableBytes();
      if (bytesBeforeLogin > MAX_BYTES_BEFORE_LOGIN) {
        bytes.release();
        bye("Log in first");
        return;
      }
    }
    context.fireChannelRead(message);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext unused) {
    context.fireChannelReadComplete();
    channel.config().setAutoRead(false); // James sets it for AUTHENTICATE
    if (isTlsStarting) {
      return;
    }
    synchronized (this) {
      isPaused = unanswered > MAX_UNANSWERED;
      if (isPaused) {
        return;
      }
    }
    channel.read();
  }

  /** Who is silent has to go, unless it is we who are asked. */
  @Override
  public void userEventTriggered(ChannelHandlerContext unused, Object event) {
    if (event instanceof IdleStateEvent) {
      synchronized (this) {
        if (unanswered > 0) {
          return;
        }
      }
      bye("You have been silent for too long");
      return;
    }
    if (event instanceof SslHandshakeCompletionEvent) {
      isTlsStarting = false;
    }
    context.fireUserEventTriggered(event);
  }

  /** Nothing more is read until the handshake of TLS has ended. */
  void stopReading() {
    isTlsStarting = true;
  }

  /** A command has come. */
  synchronized void asked() {
    unanswered++;
  }

  /** A command has its answer. */
  void answered() {
    synchronized (this) {
      unanswered--;
      if (!isPaused || unanswered > MAX_UNANSWERED) {
        return;
      }
      isPaused = false;
    }
    channel.read();
  }

  /** Ends the connection with a reason. What the client says from now on is not looked at. */
  void bye(String reason) {
    if (isEnding.getAndSet(true)) {
      return;
    }
    byte[] line = ("* BYE " + reason + "\r\n").getBytes(StandardCharsets.US_ASCII);
    context.writeAndFlush(Unpooled.wrappedBuffer(line)).addListener(ChannelFutureListener.CLOSE);
    // A client that does not read gets no more time.
    channel.eventLoop().schedule(() -> channel.close(), MAX_BYE_SECONDS, TimeUnit.SECONDS);
  }
}
