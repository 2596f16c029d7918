// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.websocketx.WebSocketDecoderConfig;
import io.netty.handler.codec.http.websocketx.WebSocketFrameAggregator;
import io.netty.handler.codec.http.websocketx.WebSocketServerHandshaker;
import io.netty.handler.codec.http.websocketx.WebSocketServerHandshakerFactory;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.timeout.ReadTimeoutHandler;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.cert.Certificate;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.apache.cassandra.exceptions.RequestValidationException;
import org.apache.cassandra.service.ClientState;

/** The first request of a connection: logs the client in, and makes a WebSocket of it. */
final class PushHandshake extends SimpleChannelInboundHandler<FullHttpRequest> {
  /** Of a message of a client. */
  static final int MAX_MESSAGE_BYTES = 128 << 10;

  static final String PATH = "/changes";

  private static final WebSocketDecoderConfig DECODER =
      WebSocketDecoderConfig.newBuilder().maxFramePayloadLength(MAX_MESSAGE_BYTES).build();

  private final PushPort port;
  private boolean isAsked;

  PushHandshake(PushPort port) {
    this.port = port;
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest request) {
    if (isAsked) {
      var unused = context.close(); // Before the answer to the first.
      return;
    }
    isAsked = true;
    if (!request.uri().equals(PATH)) {
      refuse(context, HttpResponseStatus.NOT_FOUND, "There is nothing here but " + PATH + ".");
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
    Runnable next;
    try {
      ClientState client = PushLogin.login(remote, authorization, certificates);
      next = () -> upgrade(context, request, client);
    } catch (RequestValidationException e) {
      next = () -> refuse(context, HttpResponseStatus.UNAUTHORIZED, e.getMessage());
    } catch (RuntimeException | Error e) {
      next = () -> refuse(context, HttpResponseStatus.SERVICE_UNAVAILABLE, "" + e.getMessage());
    }
    Runnable then = next;
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
  }

  private void upgrade(ChannelHandlerContext context, FullHttpRequest request, ClientState client) {
    WebSocketServerHandshaker handshaker =
        new WebSocketServerHandshakerFactory(PATH, null, DECODER).newHandshaker(request);
    if (handshaker == null) {
      refuse(context, HttpResponseStatus.UPGRADE_REQUIRED, "This is WebSocket, version 13.");
      return;
    }
    PushConnection connection = new PushConnection(port, client);
    handshaker
        .handshake(context.channel(), request)
        .addListener(
            done -> {
              if (done.isSuccess() && context.channel().isActive()) {
                context.pipeline().remove(ReadTimeoutHandler.class);
                context
                    .pipeline()
                    .addLast(new WebSocketFrameAggregator(MAX_MESSAGE_BYTES), connection)
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
