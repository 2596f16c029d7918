// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.connection;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.handler.ssl.SslHandler;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSession;
import org.apache.james.protocols.api.AbstractProtocolTransport;
import org.apache.james.protocols.api.ProtocolSession;
import org.apache.james.protocols.api.handler.LineHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way to a client, as James' protocols want it. James' own one adds TLS beside the network's
 * thread, so that the answer to STARTTLS may be encrypted already.
 */
@SuppressWarnings("FutureReturnValueIgnored") // Netty closes a channel whose write fails
final class ClientTransport extends AbstractProtocolTransport {
  private static final Logger log = LoggerFactory.getLogger(ClientTransport.class);

  private static final int MAX_LAST_ANSWER_SECONDS = 5;

  private final Channel channel;
  private final LineServer server;
  private final Deque<LineHandler<ProtocolSession>> overrides;

  /** From the answer to STARTTLS to the end of the handshake. */
  private volatile boolean isTlsStarting;

  /** Whether one of the lines that were read together has asked for TLS; the rest are in clear. */
  private volatile boolean hasBatchStartedTls;

  private volatile boolean isEncrypted;
  private ChannelFuture lastWrite;
  private boolean isLastWriteLarge;

  ClientTransport(
      Channel channel, LineServer server, Deque<LineHandler<ProtocolSession>> overrides) {
    this.channel = channel;
    this.server = server;
    this.overrides = overrides;
  }

  boolean isTlsStarting() {
    return isTlsStarting;
  }

  /** Lines that were read together are about to be worked on. */
  void startBatch() {
    hasBatchStartedTls = false;
  }

  /** From an answer to STARTTLS to the next lines, even if the handshake has ended meanwhile. */
  boolean hasBatchStartedTls() {
    return hasBatchStartedTls;
  }

  /** Whether the next answer should wait until the last one has left. */
  boolean isClientSlow() {
    boolean isSlow =
        lastWrite != null && !lastWrite.isDone() && (isLastWriteLarge || !channel.isWritable());
    isLastWriteLarge = false;
    return isSlow;
  }

  ChannelFuture lastWrite() {
    return lastWrite;
  }

  @Override
  protected void writeToClient(byte[] bytes, ProtocolSession session, boolean startTls) {
    ByteBuf buffer = Unpooled.wrappedBuffer(bytes);
    if (startTls) {
      isTlsStarting = true;
      hasBatchStartedTls = true;
      channel.eventLoop().execute(() -> startTls(buffer));
    } else {
      lastWrite = channel.writeAndFlush(buffer);
    }
  }

  private void startTls(ByteBuf lastInClear) {
    channel.writeAndFlush(lastInClear);
    SslHandler tls = server.tls().orElseThrow().sslHandler();
    server.startLinesAnew(channel.pipeline());
    channel.pipeline().addFirst(LineServer.TLS, tls);
    tls.handshakeFuture()
        .addListener(
            handshake -> {
              isEncrypted = handshake.isSuccess();
              isTlsStarting = false;
              if (!isEncrypted) {
                channel.close();
              }
            });
  }

  /** Reads all of it, here and not on the network's thread; it has at most a message's size. */
  @Override
  protected void writeToClient(InputStream in, ProtocolSession session, boolean startTls) {
    try (in) {
      lastWrite = channel.writeAndFlush(Unpooled.wrappedBuffer(in.readAllBytes()));
      isLastWriteLarge = true;
    } catch (IOException e) {
      // The client waits for the end of an answer that has begun; only this end is true.
      log.warn("An answer to {} could not be read", channel, e);
      channel.close();
    }
  }

  @Override
  protected void close() {
    closeAfter(channel, channel.writeAndFlush(Unpooled.EMPTY_BUFFER));
  }

  /** Closes a connection after a last answer. A client that does not read gets no more time. */
  static void closeAfter(Channel channel, ChannelFuture lastAnswer) {
    lastAnswer.addListener(ChannelFutureListener.CLOSE);
    channel.eventLoop().schedule(() -> channel.close(), MAX_LAST_ANSWER_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public void pushLineHandler(
      LineHandler<? extends ProtocolSession> handler, ProtocolSession session) {
    @SuppressWarnings("unchecked") // a handler takes the sessions of its protocol
    LineHandler<ProtocolSession> ofSession = (LineHandler<ProtocolSession>) handler;
    overrides.addFirst(ofSession);
  }

  @Override
  public void popLineHandler() {
    overrides.pollFirst();
  }

  @Override
  public InetSocketAddress getRemoteAddress() {
    return (InetSocketAddress) channel.remoteAddress();
  }

  @Override
  public InetSocketAddress getLocalAddress() {
    return (InetSocketAddress) channel.localAddress();
  }

  @Override
  public String getId() {
    return channel.id().toString();
  }

  @Override
  public boolean isTLSStarted() {
    return isEncrypted;
  }

  @Override
  public boolean isStartTLSSupported() {
    return server.tls().isPresent();
  }

  @Override
  public Optional<SSLSession> getSSLSession() {
    return Optional.ofNullable(channel.pipeline().get(SslHandler.class))
        .map(tls -> tls.engine().getSession());
  }

  @Override
  public boolean isProxyRequired() {
    return false;
  }

  /** Reading is the connection's business. */
  @Override
  public void setReadable(boolean readable) {}

  @Override
  public boolean isReadable() {
    return true;
  }
}
