// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.WebSocketDecoderConfig;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketHandshakeException;
import io.netty.handler.codec.http.websocketx.WebSocketServerHandshakerFactory;
import io.netty.handler.flow.FlowControlHandler;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.Future;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.cert.Certificate;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.apache.cassandra.exceptions.RequestValidationException;
import org.apache.cassandra.service.ClientState;

/** The first request of a connection: logs the client in, and makes a WebSocket of it. */
final class PushHandshake extends SimpleChannelInboundHandler<FullHttpRequest> {
  /** Of a message of a client. */
  static final int MAX_MESSAGE_BYTES = 128 << 10;

  private static final int MAX_LOGIN_SECONDS = 20;

  static final String PATH = "/changes";
  private static final String VERSION = "13";

  private static final WebSocketDecoderConfig DECODER =
      WebSocketDecoderConfig.newBuilder().maxFramePayloadLength(MAX_MESSAGE_BYTES).build();

  private final PushPort port;
  private boolean isAsked;
  private Future<?> tooLate;

  PushHandshake(PushPort port) {
    this.port = port;
  }

  /** However slowly it sends: it has so long to log in. */
  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    port.loggingIn(1);
    tooLate =
        context
            .executor()
            .schedule(
                () -> {
                  var unused = context.close();
                },
                MAX_LOGIN_SECONDS,
                TimeUnit.SECONDS);
  }

  /** It is logged in, or gone. */
  @Override
  public void handlerRemoved(ChannelHandlerContext context) {
    port.loggingIn(-1);
    tooLate.cancel(false);
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
    if (isAsked) {
      var unused = context.close(); // Before the answer to the first.
      return;
    }
    isAsked = true;
    HttpResponseStatus wrong = wrong(request);
    if (wrong != null) {
      refuse(
          context,
          wrong,
          "There is a WebSocket here, version 13, at " + PATH + ", and none for other sites.");
      return;
    }
    String authorization = request.headers().get(HttpHeaderNames.AUTHORIZATION);
    InetSocketAddress remote = (InetSocketAddress) context.channel().remoteAddress();
    Certificate[] certificates = certificates(context);
    request.retain();
    if (!port.threads().login(() -> login(context, request, remote, authorization, certificates))) {
      request.release();
      refuse(context, HttpResponseStatus.SERVICE_UNAVAILABLE, "Too many log in now.");
    }
  }

  /** Null if a request is right. A browser would send the password of its user for any page. */
  private static HttpResponseStatus wrong(FullHttpRequest request) {
    HttpHeaders headers = request.headers();
    if (!request.uri().equals(PATH)) {
      return HttpResponseStatus.NOT_FOUND;
    }
    if (headers.contains(HttpHeaderNames.ORIGIN)) {
      return HttpResponseStatus.FORBIDDEN;
    }
    if (!request.decoderResult().isSuccess()
        || !request.method().equals(HttpMethod.GET)
        || !headers.contains(HttpHeaderNames.SEC_WEBSOCKET_KEY)) {
      return HttpResponseStatus.BAD_REQUEST;
    }
    return VERSION.equals(headers.get(HttpHeaderNames.SEC_WEBSOCKET_VERSION))
        ? null
        : HttpResponseStatus.UPGRADE_REQUIRED;
  }

  private static Certificate[] certificates(ChannelHandlerContext context) {
    SslHandler tls = context.pipeline().get(SslHandler.class);
    try {
      return tls == null ? new Certificate[0] : tls.engine().getSession().getPeerCertificates();
    } catch (SSLPeerUnverifiedException e) {
      return new Certificate[0];
    }
  }

  /** Not on the event loop. */
  private void login(
      ChannelHandlerContext context,
      FullHttpRequest request,
      InetSocketAddress remote,
      String authorization,
      Certificate[] certificates) {
    if (!context.channel().isActive()) {
      request.release(); // It did not wait for its turn.
      return;
    }
    long start = System.nanoTime();
    Runnable next;
    try {
      ClientState client = PushLogin.login(remote, authorization, certificates);
      next = () -> upgrade(context, request, client);
    } catch (RequestValidationException e) {
      HttpResponseStatus status =
          PushLogin.isPassing(e)
              ? HttpResponseStatus.SERVICE_UNAVAILABLE
              : HttpResponseStatus.UNAUTHORIZED;
      next = () -> refuse(context, status, e.getMessage());
    } catch (RuntimeException | Error e) {
      next = () -> refuse(context, HttpResponseStatus.SERVICE_UNAVAILABLE, "" + e.getMessage());
    }
    port.threads().loggedIn(System.nanoTime() - start);
    Runnable then = next;
    try {
      context
          .executor()
          .execute(
              () -> {
                try {
                  then.run();
                } finally {
                  request.release();
                }
              });
    } catch (RejectedExecutionException e) {
      request.release(); // The port is closed.
    }
  }

  private void upgrade(ChannelHandlerContext context, FullHttpRequest request, ClientState client) {
    PushConnection connection = new PushConnection(port, client);
    ChannelFuture shaken;
    try {
      shaken =
          new WebSocketServerHandshakerFactory(PATH, null, DECODER)
              .newHandshaker(request)
              .handshake(context.channel(), request);
    } catch (WebSocketHandshakeException e) {
      refuse(context, HttpResponseStatus.BAD_REQUEST, "This is no handshake: " + e.getMessage());
      return;
    }
    shaken.addListener(
        done -> {
          if (done.isSuccess() && context.channel().isActive()) {
            context
                .pipeline()
                .addLast(
                    new WebSocketFrameAggregator(MAX_MESSAGE_BYTES),
                    new FlowControlHandler(), // What is read at once may hold many messages.
                    connection)
                .remove(this);
          } else {
            var unused = context.close();
          }
        });
  }

  private static void refuse(
      ChannelHandlerContext context, HttpResponseStatus status, String sentence) {
    DefaultFullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            status,
            Unpooled.copiedBuffer(sentence + "\n", StandardCharsets.UTF_8));
    response
        .headers()
        .set(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8")
        .set(HttpHeaderNames.CONTENT_LENGTH, response.content().readableBytes())
        .set(HttpHeaderNames.CONNECTION, "close");
    if (status.equals(HttpResponseStatus.UPGRADE_REQUIRED)) {
      response.headers().set(HttpHeaderNames.SEC_WEBSOCKET_VERSION, VERSION);
    }
    if (status.equals(HttpResponseStatus.UNAUTHORIZED)) {
      response.headers().set(HttpHeaderNames.WWW_AUTHENTICATE, "Basic realm=\"cassandra\"");
    }
    context.writeAndFlush(response).addListener(ChannelFutureListener.CLOSE);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    var unused = context.close(); // No HTTP, no TLS, or gone.
  }
}
