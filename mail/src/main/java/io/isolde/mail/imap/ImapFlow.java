// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.imap;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.james.imap.api.ImapSessionState;
import org.apache.james.imap.api.message.response.ImapResponseMessage;
import org.apache.james.imap.api.process.ImapProcessor.Responder;
import org.apache.james.imap.api.process.ImapSession;
import org.apache.james.imap.message.response.ContinuationResponse;
import org.apache.james.imapserver.netty.NettyConstants;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How fast a client of IMAP may be read and written. It stands before James' decoder, on the
 * decoder's thread. The next bytes are read when the decoder has seen the last ones and few
 * commands are unanswered. So a client has at most one read and some commands in memory.
 */
@SuppressWarnings("FutureReturnValueIgnored") // Netty closes a channel whose write fails
final class ImapFlow extends ChannelInboundHandlerAdapter {
  private static final Logger log = LoggerFactory.getLogger(ImapFlow.class);

  /** The attribute of a session of James under which this is found. */
  static final String ATTRIBUTE = "io.isolde.mail.flow";

  /** Clients send some commands before the first answer; more of them wait in the socket. */
  private static final int MAX_UNANSWERED = 16;

  /** What a client may send before it has logged in; a large part is the name and the password. */
  static final int MAX_BYTES_BEFORE_LOGIN = 64 << 10;

  /** So long a worker waits for a client that does not take what it has asked for. */
  private static final long MAX_SLOW_MILLIS = 60_000;

  private static final long SLOW_POLL_MILLIS = 10;

  private final Duration beforeLogin;
  private Channel channel;
  private ImapSession session;
  private long bytesBeforeLogin;

  /** Commands without an answer, and whether reading waits for one; guarded by this. */
  private int unanswered;

  private boolean isPaused;

  ImapFlow(Duration beforeLogin) {
    this.beforeLogin = beforeLogin;
  }

  InetAddress address() {
    return ((InetSocketAddress) channel.remoteAddress()).getAddress();
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    channel = context.channel();
    context.fireChannelActive();
    session = channel.attr(NettyConstants.IMAP_SESSION_ATTRIBUTE_KEY).get();
    session.setAttribute(ATTRIBUTE, this);
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
    context.read();
  }

  private boolean isLoggedIn() {
    return session.getState() != ImapSessionState.NON_AUTHENTICATED;
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
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
  public void channelReadComplete(ChannelHandlerContext context) {
    context.fireChannelReadComplete();
    channel.config().setAutoRead(false); // James sets it after STARTTLS and AUTHENTICATE
    synchronized (this) {
      isPaused = unanswered > MAX_UNANSWERED;
      if (isPaused) {
        return;
      }
    }
    channel.read();
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

  /** Ends the connection with a reason. */
  void bye(String reason) {
    byte[] line = ("* BYE " + reason + "\r\n").getBytes(StandardCharsets.US_ASCII);
    channel.writeAndFlush(Unpooled.wrappedBuffer(line)).addListener(ChannelFutureListener.CLOSE);
  }

  /**
   * Answers no faster than the client reads. A worker waits; threads of the network do not, but
   * they write next to nothing.
   */
  Responder paced(Responder responder) {
    return new Responder() {
      @Override
      public void respond(ImapResponseMessage message) {
        if (!(message instanceof ContinuationResponse)) {
          awaitClient();
        }
        responder.respond(message);
      }

      @Override
      public void flush() {
        responder.flush();
      }
    };
  }

  private void awaitClient() {
    if (channel.eventLoop().inEventLoop()) {
      return;
    }
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MAX_SLOW_MILLIS);
    while (channel.isActive() && !channel.isWritable()) {
      if (System.nanoTime() - deadline > 0) {
        log.info("{} does not take its answers and is closed", channel);
        channel.close();
        return;
      }
      try {
        Thread.sleep(SLOW_POLL_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
