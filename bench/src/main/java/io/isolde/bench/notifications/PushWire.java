// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import io.isolde.notification.ClientMessage;
import io.isolde.notification.ServerMessage;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolConfig;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler;
import io.netty.handler.codec.http.websocketx.WebSocketClientProtocolHandler.ClientHandshakeStateEvent;
import io.netty.handler.codec.http.websocketx.WebSocketVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;

/** A connection to a push port: a WebSocket with JSON. All of it is called by its event loop. */
final class PushWire extends WatcherWire<TextWebSocketFrame> {
  private static final int HANDSHAKE_TIMEOUT_MILLIS = 10_000;
  private static final int MAX_HANDSHAKE_BYTES = 8 << 10;
  private static final int MAX_MESSAGE_BYTES = 1 << 20;

  private static final ObjectMapper JSON =
      new ObjectMapper()
          .configure(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES, false)
          .setSerializationInclusion(JsonInclude.Include.NON_NULL);

  private static final ObjectReader MESSAGES = JSON.readerFor(ServerMessage.class);

  /** Who has the connection. */
  interface Owner {
    void opened(Channel channel);

    void received(ServerMessage message);

    /** It has ended, or could not be opened; comes once. */
    void closed();
  }

  private final Owner owner;
  private final WebSocketClientProtocolConfig config;

  private PushWire(String address, Gate gate, Owner owner) {
    super(gate, owner::closed);
    this.owner = owner;
    this.config =
        WebSocketClientProtocolConfig.newBuilder()
            .webSocketUri(URI.create("ws://" + address + "/changes"))
            .version(WebSocketVersion.V13)
            .generateOriginHeader(false)
            .handshakeTimeoutMillis(HANDSHAKE_TIMEOUT_MILLIS)
            .maxFramePayloadLength(MAX_MESSAGE_BYTES)
            .build();
  }

  /** Connects to host:port, when the gate lets it. */
  static void connect(EventLoop loop, String address, Gate gate, Owner owner) {
    int colon = address.lastIndexOf(':');
    new PushWire(address, gate, owner)
        .connect(
            loop,
            new InetSocketAddress(
                address.substring(0, colon), Integer.parseInt(address.substring(colon + 1))));
  }

  @Override
  void addCodec(ChannelPipeline pipeline) {
    pipeline.addLast(
        new HttpClientCodec(),
        new HttpObjectAggregator(MAX_HANDSHAKE_BYTES),
        new WebSocketClientProtocolHandler(config));
  }

  /** Sends a message. */
  static void send(Channel channel, ClientMessage message) {
    try {
      var unused = channel.writeAndFlush(new TextWebSocketFrame(JSON.writeValueAsString(message)));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("A record of plain values.", e);
    }
  }

  @Override
  public void userEventTriggered(ChannelHandlerContext context, Object event) {
    if (event == ClientHandshakeStateEvent.HANDSHAKE_COMPLETE) {
      leaveGate();
      owner.opened(context.channel());
    }
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, TextWebSocketFrame frame) {
    try {
      owner.received(MESSAGES.readValue(frame.text()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
