// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.notification.ClientMessage;
import io.isolde.notification.ServerMessage;
import io.isolde.notification.ServerSession;
import io.isolde.oracle.group.Changes;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundBuffer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.websocketx.CloseWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PingWebSocketFrame;
import io.netty.handler.codec.http.websocketx.PongWebSocketFrame;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketCloseStatus;
import io.netty.handler.codec.http.websocketx.WebSocketFrame;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import org.apache.cassandra.exceptions.RequestValidationException;
import org.apache.cassandra.exceptions.UnauthorizedException;
import org.apache.cassandra.service.ClientState;

/**
 * A connection of a client, and its session. All but what is volatile belongs to its event loop.
 */
final class PushConnection extends SimpleChannelInboundHandler<WebSocketFrame>
    implements ServerSession.Output, PushQuestions.Answers {
  /** Beyond it, nothing more is read from the client. */
  static final int MAX_PREPARING = 16;

  /** A subscription that another thread understands; the client may have ended it meanwhile. */
  private static final class Preparing {
    private volatile boolean isOver;
  }

  private final PushPort port;
  private final ClientState client;
  private final ServerSession session = new ServerSession(this);
  private final Map<Integer, Preparing> preparing = new HashMap<>(4);

  /** What other threads have not done yet. */
  private int preparations;

  private ChannelHandlerContext context;
  private PushQuestions questions;

  /** What the session is given now, and sends in one message; null while it is given nothing. */
  private PushedAnswer answering;

  private volatile long readNanos = System.nanoTime();
  private volatile int number;
  private volatile int watchers;

  PushConnection(PushPort port, ClientState client) {
    this.port = port;
    this.client = client;
  }

  /** The later a connection has come, the higher. */
  int number() {
    return number;
  }

  int watchers() {
    return watchers;
  }

  /** The session for operators; its event loop has to look. */
  Future<PushNode.Session> shown() {
    return context
        .executor()
        .submit(
            () -> {
              ChannelOutboundBuffer queued = context.channel().unsafe().outboundBuffer();
              return new PushNode.Session(
                  number,
                  client.getRemoteAddress().toString(),
                  client.getUser().getName(),
                  watchers,
                  session.position().orElse(-1),
                  queued == null ? 0 : queued.totalPendingWriteBytes());
            });
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
    questions = new PushQuestions(port.threads(), port.questions(), client, added.executor(), this);
    number = port.opened(this);
  }

  @Override
  public void channelInactive(ChannelHandlerContext gone) {
    preparing.values().forEach(PushConnection::over);
    session.close();
    count();
    port.closed(this);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext from, Throwable cause) {
    var unused = from.close();
  }

  /**
   * A client that is slow at reading is not read either. What it sends next must not come before
   * the session has returned, which may be what writes now.
   */
  @Override
  public void channelWritabilityChanged(ChannelHandlerContext from) {
    if (from.channel().isWritable()) {
      onLoop(this::resumeIfWritable);
    } else {
      readIfRoom();
      session.pause();
    }
  }

  private void resumeIfWritable() {
    if (context.channel().isWritable()) {
      session.resume();
      readIfRoom();
    }
  }

  private void readIfRoom() {
    Channel channel = context.channel();
    channel.config().setAutoRead(channel.isWritable() && preparations < MAX_PREPARING);
  }

  @Override
  protected void channelRead0(ChannelHandlerContext from, WebSocketFrame frame) {
    readNanos = System.nanoTime();
    if (frame instanceof TextWebSocketFrame text) {
      PushJson.message(text.text()).ifPresentOrElse(this::received, this::refuse);
    } else if (frame instanceof PingWebSocketFrame) {
      var unused = from.writeAndFlush(new PongWebSocketFrame(frame.content().retain()));
    } else if (frame instanceof CloseWebSocketFrame) {
      from.writeAndFlush(frame.retain()).addListener(ChannelFutureListener.CLOSE);
    } else if (!(frame instanceof PongWebSocketFrame)) {
      refuse();
    }
  }

  private void refuse() {
    send(
        ServerMessage.error(
            null,
            ErrorCode.INVALID_REQUEST.name(),
            "A message is JSON, of type subscribe with an id and a statement, or unsubscribe.",
            false));
    close(WebSocketCloseStatus.INVALID_PAYLOAD_DATA);
  }

  private void close(WebSocketCloseStatus status) {
    context.writeAndFlush(new CloseWebSocketFrame(status)).addListener(ChannelFutureListener.CLOSE);
  }

  private void received(ClientMessage message) {
    if (message.type().equals(ClientMessage.UNSUBSCRIBE)) {
      over(preparing.remove(message.id()));
      session.unsubscribe(message.id());
      count();
    } else {
      subscribe(message);
    }
  }

  private void subscribe(ClientMessage message) {
    int id = message.id();
    if (session.has(id) || preparing.containsKey(id)) {
      refuse(id, ErrorCode.INVALID_REQUEST, "There is a subscription " + id + " already.");
    } else if (session.subscriptions() + preparing.size() >= ServerSession.MAX_SUBSCRIPTIONS) {
      refuse(
          id,
          ErrorCode.TOO_MANY_WATCHES,
          "A connection has at most " + ServerSession.MAX_SUBSCRIPTIONS + " subscriptions.");
    } else if (message.after() != null && message.after() < 0) {
      refuse(id, ErrorCode.INVALID_REQUEST, "A timestamp is not negative.");
    } else {
      Preparing begun = new Preparing();
      if (hasSlot() && port.threads().prepare(() -> prepare(begun, message))) {
        preparing.put(id, begun);
        preparations++;
        readIfRoom();
      } else {
        send(
            ServerMessage.error(
                id, ErrorCode.TOO_MANY_WATCHES.name(), "This node has much to do now.", true));
      }
    }
  }

  /** What other threads have yet to do for subscriptions that are over counts, too. */
  private boolean hasSlot() {
    return Math.max(session.subscriptions(), questions.waiting()) + preparations
        < ServerSession.MAX_SUBSCRIPTIONS;
  }

  private static void over(Preparing ended) {
    if (ended != null) {
      ended.isOver = true;
    }
  }

  private void refuse(int id, ErrorCode code, String sentence) {
    send(ServerMessage.error(id, code.name(), sentence, false));
  }

  private void prepare(Preparing begun, ClientMessage message) {
    if (begun.isOver || !context.channel().isActive()) {
      onLoop(this::endPreparation);
      return;
    }
    try {
      PushedStatements.Question question = port.statements().prepare(message, client);
      onLoop(() -> prepared(begun, message, question));
    } catch (RuntimeException | Error e) {
      onLoop(
          () -> {
            if (preparing.remove(message.id(), begun)) {
              send(error(message.id(), e));
            }
            endPreparation();
          });
    }
  }

  /** Nothing is to be done any more if the loop has ended. */
  private void onLoop(Runnable task) {
    try {
      context.executor().execute(task);
    } catch (RejectedExecutionException e) {
      // The port is closed, and this connection with it.
    }
  }

  private void endPreparation() {
    preparations--;
    readIfRoom();
  }

  private void prepared(
      Preparing begun, ClientMessage message, PushedStatements.Question question) {
    int id = message.id();
    if (preparing.remove(id, begun) && context.channel().isActive()) {
      questions.begin(id, question);
      session.subscribe(
          id, message.after() == null ? OptionalLong.empty() : OptionalLong.of(message.after()));
      count();
    }
    endPreparation(); // Last, since more messages may come from within.
  }

  private void count() {
    port.counted(session.subscriptions() - watchers);
    watchers = session.subscriptions();
  }

  @Override
  public void ask(int id, int question, OptionalLong after, boolean isFirst) {
    questions.ask(id, question, after, isFirst);
  }

  @Override
  public void answered(int id, int question, PushedAnswer answer) {
    int lost = session.lost();
    Changes.Notification notification = answer.notification();
    answering = answer;
    try {
      session.answered(
          id,
          question,
          new ServerSession.Answer(
              notification.commits(), notification.position(), notification.isLost()));
    } finally {
      answering = null;
    }
    port.lost(session.lost() - lost);
  }

  @Override
  public void failed(int id, int question, Throwable failure) {
    ServerMessage error = error(id, failure);
    session.failed(id, question, error.code(), error.message(), error.retryable());
    count();
  }

  private static ServerMessage error(int id, Throwable failure) {
    if (failure instanceof IsoldeException known) {
      return ServerMessage.error(
          id, known.errorCode().name(), known.sentence(), known.errorCode().isRetryable());
    }
    if (failure instanceof RequestValidationException && !PushLogin.isPassing(failure)) {
      boolean isForbidden = failure instanceof UnauthorizedException;
      String code = isForbidden ? "UNAUTHORIZED" : ErrorCode.INVALID_REQUEST.name();
      return ServerMessage.error(id, code, failure.getMessage(), false);
    }
    return ServerMessage.error(
        id, ErrorCode.ORACLE_UNAVAILABLE.name(), "The node could not ask: " + failure, true);
  }

  @Override
  public void cancel(int id) {
    questions.end(id);
  }

  @Override
  public void send(ServerMessage message) {
    byte[] bytes = answering == null ? PushJson.bytes(message) : answering.bytes(message);
    var unused = context.writeAndFlush(new TextWebSocketFrame(Unpooled.wrappedBuffer(bytes)));
  }

  /** Asks the client to go to another node; from any thread. */
  void move(String address) {
    onLoop(() -> send(ServerMessage.move(address)));
  }

  /** Closes it if nothing has come from the client for so long; from any thread. */
  void keepAlive(long maxSilenceNanos) {
    if (System.nanoTime() - readNanos > maxSilenceNanos) {
      var unused = context.close();
    } else if (context.channel().isWritable()) {
      var unused = context.writeAndFlush(new PingWebSocketFrame(Unpooled.EMPTY_BUFFER));
    }
  }
}
