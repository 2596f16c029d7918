// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.imap;

import io.isolde.mail.connection.ServerTls;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.TooLongFrameException;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.timeout.TimeoutException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.james.imap.api.ImapMessage;
import org.apache.james.imap.api.ImapSessionState;
import org.apache.james.imap.api.display.HumanReadableText;
import org.apache.james.imap.api.message.request.ImapRequest;
import org.apache.james.imap.api.message.response.StatusResponse;
import org.apache.james.imap.api.process.ImapProcessor;
import org.apache.james.imap.api.process.ImapSession.SessionId;
import org.apache.james.imap.api.process.SelectedMailbox;
import org.apache.james.imap.encode.ImapEncoder;
import org.apache.james.imap.message.request.StartTLSRequest;
import org.apache.james.imap.message.response.UnpooledStatusResponseFactory;
import org.apache.james.imapserver.netty.NettyConstants;
import org.apache.james.imapserver.netty.NettyImapSession;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * The commands of a connection of IMAP. A worker executes one after another, so answers come in the
 * order of commands. What James itself writes to the client, such as the answer to the size of a
 * literal, comes in the same order.
 */
@SuppressWarnings("FutureReturnValueIgnored") // Netty closes a channel whose write fails
final class ImapCommands extends ChannelDuplexHandler {
  private static final Logger log = LoggerFactory.getLogger(ImapCommands.class);

  private static final HumanReadableText FAILED =
      new HumanReadableText("isolde.failed", "failed. The server can't say why, try again later.");

  /**
   * What all connections share.
   *
   * @param hello what a client hears first
   * @param workers execute the commands
   * @param slow clients that workers wait for
   */
  record Server(
      String hello,
      ImapProcessor processor,
      ImapEncoder encoder,
      Optional<ServerTls> tls,
      boolean isClearAllowed,
      Executor workers,
      SlowClients slow) {}

  private final Server server;
  private final ImapFlow flow;

  /** Bounded by the flow, which reads no more if there are many; guarded by itself. */
  private final Deque<Runnable> waiting = new ArrayDeque<>();

  /** Whether a worker is in charge, or will be; guarded by the former. */
  private boolean isWorking;

  private ChannelHandlerContext context;
  private ImapClient client;
  private Session session;

  /** Whether the client knows that this is the end; only the worker in charge uses it. */
  private boolean hasEnded;

  ImapCommands(Server server, ImapFlow flow) {
    this.server = server;
    this.flow = flow;
  }

  @Override
  public void channelActive(ChannelHandlerContext active) {
    context = active;
    client = new ImapClient(active, server.encoder(), server.slow());
    session = new Session();
    active.channel().attr(NettyConstants.IMAP_SESSION_ATTRIBUTE_KEY).set(session);
    client.write(line("* OK " + server.hello()));
  }

  /** James' session, whose heartbeats for clients that idle are no work of the network's. */
  private final class Session extends NettyImapSession {
    Session() {
      super(
          context.channel(),
          server.tls().orElse(null),
          false,
          !server.isClearAllowed(),
          true,
          SessionId.generate(),
          Optional.empty());
    }

    @Override
    public Mono<Void> selected(SelectedMailbox mailbox) {
      return super.selected(IdleNews.of(mailbox));
    }

    /** James' own one forgets the mailbox before it could end what listens to it. */
    @Override
    public Mono<Void> deselect() {
      SelectedMailbox open = getSelected();
      Mono<Void> done = super.deselect();
      return open == null ? done : done.then(open.deselect());
    }

    /**
     * The network's thread runs the task, so that nothing is read meanwhile. A worker waits for it
     * between two commands: then nobody who waits for the client can have the lock of its answers.
     */
    @Override
    public void executeSafely(Runnable task) {
      enqueue(
          () ->
              context
                  .channel()
                  .eventLoop()
                  .submit(
                      () -> {
                        task.run();
                        context.channel().read();
                      })
                  .awaitUninterruptibly());
    }

    @Override
    public void schedule(Runnable task, Duration delay) {
      context
          .channel()
          .eventLoop()
          .schedule(
              () -> context.executor().execute(task), delay.toMillis(), TimeUnit.MILLISECONDS);
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext unused, Object message) {
    ImapMessage command = (ImapMessage) message;
    answer(
        () -> {
          try {
            process(command);
          } finally {
            close(command);
          }
        });
  }

  /** What James writes by itself. */
  @Override
  public void write(ChannelHandlerContext unused, Object message, ChannelPromise promise) {
    answer(() -> client.write((ByteBuf) message, promise));
  }

  private void answer(Runnable task) {
    flow.asked();
    enqueue(
        () -> {
          try {
            task.run();
          } finally {
            flow.answered();
          }
        });
  }

  private void enqueue(Runnable task) {
    synchronized (waiting) {
      waiting.add(task);
      if (isWorking) {
        return;
      }
      isWorking = true;
    }
    try {
      server.workers().execute(this::work);
    } catch (RejectedExecutionException e) {
      log.warn("No worker has time for {}; the connection is closed", context.channel());
      synchronized (waiting) {
        isWorking = false;
      }
      context.close();
    }
  }

  /** One task, and then it is the turn of other connections. */
  private void work() {
    do {
      run(next());
    } while (hasMore() && !isPassedOn());
  }

  private Runnable next() {
    synchronized (waiting) {
      return waiting.remove();
    }
  }

  private void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      log.error("{} is closed", context.channel(), e);
      context.close();
    }
  }

  private boolean hasMore() {
    synchronized (waiting) {
      isWorking = !waiting.isEmpty();
      return isWorking;
    }
  }

  private boolean isPassedOn() {
    try {
      server.workers().execute(this::work);
      return true;
    } catch (RejectedExecutionException e) {
      log.debug("The server ends, and this worker does the rest of {}", context.channel(), e);
      return false;
    }
  }

  private void process(ImapMessage message) {
    if (client.isGone() || hasEnded) {
      return;
    }
    if (message instanceof StartTLSRequest request && session.supportStartTLS()) {
      startTls(request);
      return;
    }
    SelectedMailbox open = session.getSelected();
    if (open != null && open.isDeletedByOtherSession()) {
      hasEnded = true;
      flow.bye("Selected mailbox has been deleted");
      return;
    }
    ImapClient.Answers answers = client.new Answers();
    try {
      ClientAddress.during(
          flow.address(),
          () -> server.processor().processReactive(message, answers, session).block());
    } catch (Exception e) {
      failed(message, answers, e);
    }
    answers.end();
    if (session.getState() == ImapSessionState.LOGOUT || isBye(message)) {
      hasEnded = true;
      context.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(ChannelFutureListener.CLOSE);
    }
  }

  /** James' decoder ends the session of an unknown command, and its answer comes here. */
  private static boolean isBye(ImapMessage message) {
    return message instanceof StatusResponse response
        && response.getServerResponseType() == StatusResponse.Type.BYE;
  }

  private void failed(ImapMessage message, ImapClient.Answers answers, Exception failure) {
    if (client.isGone()) {
      return;
    }
    log.error("{} of {} failed", message.getClass().getSimpleName(), context.channel(), failure);
    if (message instanceof ImapRequest request) {
      answers.respond(
          new UnpooledStatusResponseFactory()
              .taggedNo(request.getTag(), request.getCommand(), FAILED));
    } else {
      flow.bye("The command failed, nothing more is known");
    }
  }

  /**
   * The network's thread writes the answer and adds TLS at once, before it reads again. So nothing
   * comes between them. Part of a line that has come in clear ends the connection instead.
   */
  private void startTls(StartTLSRequest request) {
    ByteBuf answer = line(request.getTag().asString() + " OK STARTTLS completed.");
    SslHandler tls = server.tls().orElseThrow().sslHandler();
    Channel channel = context.channel();
    channel
        .eventLoop()
        .submit(
            () -> {
              ChannelPipeline pipeline = channel.pipeline();
              if (pipeline.get(NettyConstants.FRAMER) instanceof FramedDecoder.Lines lines
                  && !lines.hasPart()) {
                context.writeAndFlush(answer);
                pipeline.addFirst(NettyConstants.SSL_HANDLER, tls);
                channel.read();
              } else {
                channel.close();
              }
            })
        .awaitUninterruptibly();
  }

  private static ByteBuf line(String text) {
    return Unpooled.wrappedBuffer((text + "\r\n").getBytes(StandardCharsets.US_ASCII));
  }

  /** Some messages have files. */
  private static void close(ImapMessage message) {
    if (message instanceof Closeable closeable) {
      try {
        closeable.close();
      } catch (IOException e) {
        log.warn("A file of a message stays", e);
      }
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext unused) {
    if (session != null) {
      context.channel().attr(NettyConstants.IMAP_SESSION_ATTRIBUTE_KEY).set(null);
      enqueue(this::logOut);
    }
  }

  private void logOut() {
    try {
      session.logout().block();
    } catch (RuntimeException e) {
      log.warn("A session of {} was not ended", context.channel(), e);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext unused, Throwable cause) {
    if (cause instanceof TooLongFrameException) {
      answer(() -> client.write(line("* BAD failed. Maximum command line length exceeded")));
    } else if (cause instanceof IOException || cause instanceof TimeoutException) {
      log.info("{} is closed: {}", context.channel(), cause.getMessage());
      context.close();
    } else {
      log.warn("{} is closed", context.channel(), cause);
      flow.bye("The server can't go on");
    }
  }
}
