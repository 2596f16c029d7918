// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.timeout.IdleStateEvent;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.james.protocols.api.ProtocolSession;
import org.apache.james.protocols.api.ProtocolSessionImpl;
import org.apache.james.protocols.api.Response;
import org.apache.james.protocols.api.handler.ConnectHandler;
import org.apache.james.protocols.api.handler.DisconnectHandler;
import org.apache.james.protocols.api.handler.LineHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection whose protocol consists of lines.
 *
 * <p>The network's thread reads once, and one worker works on the lines of it, one after another.
 * Only then is more read. After an answer that the client is slow to take, the worker leaves, and
 * the lines wait until it has been sent. So a connection has at most one read of lines and one
 * answer in memory, whatever the client sends.
 */
@SuppressWarnings("FutureReturnValueIgnored") // Netty closes a channel whose write fails
final class LineConnection extends ChannelInboundHandlerAdapter {
  private static final Logger log = LoggerFactory.getLogger(LineConnection.class);

  private final LineServer server;

  /** Who gets the next line instead of the commands; only the worker in charge uses it. */
  private final Deque<LineHandler<ProtocolSession>> overrides = new ArrayDeque<>();

  /** What has been read and no worker has seen; only the network's thread uses it. */
  private List<byte[]> lines = new ArrayList<>();

  private ProtocolSession session;
  private ClientTransport transport;

  /** Whether a worker is in charge, or will be; only the network's thread uses it. */
  private boolean isWorking;

  /** Whether the client has gone; only the network's thread uses it. */
  private boolean isGone;

  private int commands;

  LineConnection(LineServer server) {
    this.server = server;
  }

  @Override
  @SuppressWarnings({"unchecked", "rawtypes"}) // James' handlers are raw here
  public void channelActive(ChannelHandlerContext context) {
    transport = new ClientTransport(context.channel(), server, overrides);
    session = server.protocol().newSession(transport);
    for (ConnectHandler handler :
        server.protocol().getProtocolChain().getHandlers(ConnectHandler.class)) {
      answer(handler.onConnect(session));
    }
    context
        .executor()
        .schedule(
            () -> closeIfNotLoggedIn(context),
            server.beforeLogin().toMillis(),
            TimeUnit.MILLISECONDS);
    context.read();
  }

  private void closeIfNotLoggedIn(ChannelHandlerContext context) {
    if (context.channel().isActive() && !server.isLoggedIn().test(session)) {
      close(context, server.tooLate());
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    ByteBuf line = (ByteBuf) message;
    try {
      byte[] bytes = new byte[line.readableBytes()];
      line.readBytes(bytes);
      if (transport.isTlsStarting()) {
        // What came in clear behind STARTTLS may be another one's.
        context.close();
      } else {
        lines.add(bytes);
      }
    } finally {
      line.release();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext context) {
    if (!isWorking) {
      goOn(context);
    }
  }

  /** Works on what has been read, or reads. */
  private void goOn(ChannelHandlerContext context) {
    if (lines.isEmpty()) {
      context.read();
      return;
    }
    List<byte[]> batch = lines;
    lines = new ArrayList<>();
    isWorking = true;
    transport.startBatch();
    start(context, batch, 0);
  }

  private void start(ChannelHandlerContext context, List<byte[]> batch, int from) {
    try {
      server.workers().execute(() -> work(context, batch, from));
    } catch (RejectedExecutionException e) {
      log.warn("No worker has time for {}; the connection is closed", context.channel());
      isWorking = false;
      context.close();
    }
  }

  private void work(ChannelHandlerContext context, List<byte[]> batch, int from) {
    try {
      // Who has gone gets no answer, so nobody is to work on the question.
      for (int i = from; i < batch.size() && context.channel().isActive(); i++) {
        if (transport.hasBatchStartedTls()) {
          context.close(); // see channelRead
          break;
        }
        work(context, batch.get(i));
        if (transport.isClientSlow()) {
          int next = i + 1;
          transport.lastWrite().addListener(sent -> start(context, batch, next));
          return;
        }
      }
    } catch (RuntimeException e) {
      log.error("A command of {} failed", context.channel(), e);
      answer(session.newFatalErrorResponse());
      context.close();
    }
    context.executor().execute(() -> worked(context));
  }

  private void work(ChannelHandlerContext context, byte[] line) {
    LineHandler<ProtocolSession> override = overrides.peekFirst();
    if (override != null) {
      answer(override.onLine(session, line));
      return;
    }
    if (!server.isLoggedIn().test(session) && ++commands > server.maxCommands()) {
      close(context, server.tooLate());
      return;
    }
    answer(commands().onLine(session, line));
  }

  @SuppressWarnings("unchecked") // the dispatcher takes the sessions of its protocol
  private LineHandler<ProtocolSession> commands() {
    return server.protocol().getProtocolChain().getFirstHandler(LineHandler.class).orElseThrow();
  }

  private void worked(ChannelHandlerContext context) {
    isWorking = false;
    if (isGone) {
      disconnect();
    } else {
      goOn(context);
    }
  }

  private void answer(Response response) {
    if (response != null) {
      ((ProtocolSessionImpl) session).getProtocolTransport().writeResponse(response, session);
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    isGone = true;
    if (!isWorking && session != null) {
      isWorking = true;
      disconnect();
    }
  }

  /** What belongs to the session is given back, by a worker, since that may take a while. */
  @SuppressWarnings({"unchecked", "rawtypes"}) // James' handlers are raw here
  private void disconnect() {
    try {
      server
          .workers()
          .execute(
              () -> {
                for (DisconnectHandler handler :
                    server.protocol().getProtocolChain().getHandlers(DisconnectHandler.class)) {
                  handler.onDisconnect(session);
                }
                session.resetState();
              });
    } catch (RejectedExecutionException e) {
      // Only while the server closes; what is not given back expires.
      log.warn("A session was not ended, since no worker had time: {}", e.getMessage());
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event instanceof IdleStateEvent) {
      close(context, server.tooLate());
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (cause instanceof TooLongFrameException && session != null) {
      // The rest of the line would look like lines of its own, so this is the end.
      close(context, String.join("\r\n", session.newLineTooLongResponse().getLines()));
      return;
    }
    if (cause instanceof IOException || cause instanceof DecoderException) {
      log.info("Connection {} is closed: {}", context.channel(), cause.getMessage());
    } else {
      log.warn("Connection {} is closed", context.channel(), cause);
    }
    context.close();
  }

  private static void close(ChannelHandlerContext context, String line) {
    byte[] bytes = (line + "\r\n").getBytes(StandardCharsets.US_ASCII);
    ClientTransport.closeAfter(
        context.channel(), context.writeAndFlush(Unpooled.wrappedBuffer(bytes)));
  }
}
