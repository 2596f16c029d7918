// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.connection;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A port, and the connections that it has accepted. */
@SuppressWarnings("FutureReturnValueIgnored") // Netty closes a channel whose write fails
public final class Listener implements AutoCloseable {

  /** How much of what a client has sent is read at a time; then it is worked on. */
  private static final int MAX_READ_BYTES = 16 << 10;

  private static final int MAX_BACKLOG = 256;
  private static final int MAX_CLOSING_SECONDS = 10;

  private final Channel port;
  private final ChannelGroup connections;
  private final Admission admission;

  private Listener(Channel port, ChannelGroup connections, Admission admission) {
    this.port = port;
    this.connections = connections;
    this.admission = admission;
  }

  /**
   * Opens a port.
   *
   * @param refusal the line that a client gets for which there is no room, without its end
   * @param pipeline adds the handlers of a connection; it has to read by itself
   * @throws IOException if the port can't be had
   */
  public static Listener open(
      InetSocketAddress address,
      EventLoopGroup threads,
      Admission admission,
      String refusal,
      Consumer<SocketChannel> pipeline)
      throws IOException {
    ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(threads)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, MAX_BACKLOG)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.AUTO_READ, false)
            .childOption(ChannelOption.RCVBUF_ALLOCATOR, oneReadAtATime())
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    if (channel.remoteAddress() == null) { // it has gone already
                      channel.close();
                      return;
                    }
                    InetAddress client = channel.remoteAddress().getAddress();
                    if (admission.tryEnter(client)) {
                      connections.add(channel);
                      channel.closeFuture().addListener(closed -> admission.leave(client));
                      pipeline.accept(channel);
                    } else {
                      refuse(channel, refusal);
                    }
                  }
                });
    ChannelFuture bound = bootstrap.bind(address).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException(
          "Port %d of %s can't be opened: %s. Name another port, or stop who has it."
              .formatted(address.getPort(), address.getHostString(), bound.cause().getMessage()),
          bound.cause());
    }
    return new Listener(bound.channel(), connections, admission);
  }

  private static FixedRecvByteBufAllocator oneReadAtATime() {
    FixedRecvByteBufAllocator allocator = new FixedRecvByteBufAllocator(MAX_READ_BYTES);
    allocator.maxMessagesPerRead(1);
    return allocator;
  }

  private static void refuse(SocketChannel channel, String refusal) {
    byte[] line = (refusal + "\r\n").getBytes(StandardCharsets.US_ASCII);
    channel
        .eventLoop()
        .execute(
            () ->
                channel
                    .writeAndFlush(Unpooled.wrappedBuffer(line))
                    .addListener(ChannelFutureListener.CLOSE));
  }

  /** The port; it is another one than asked for if that was 0. */
  public int port() {
    return ((InetSocketAddress) port.localAddress()).getPort();
  }

  /** How many connections there are now. */
  public int connections() {
    return admission.connections();
  }

  /** Closes the port and all its connections. */
  @Override
  public void close() {
    port.close().awaitUninterruptibly(MAX_CLOSING_SECONDS, TimeUnit.SECONDS);
    connections.close().awaitUninterruptibly(MAX_CLOSING_SECONDS, TimeUnit.SECONDS);
  }
}
