// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetSocketAddress;

/**
 * A connection of a watcher, whichever protocol it speaks. All of it is called by its event loop.
 *
 * @param <M> what the handlers before this one make of what comes
 */
abstract class WatcherWire<M> extends SimpleChannelInboundHandler<M> {
  private static final int CONNECT_TIMEOUT_MILLIS = 5_000;

  private final Gate gate;
  private final Runnable onClosed;
  private boolean isInGate = true;

  /**
   * Not connected yet.
   *
   * @param onClosed hears, once, that it has ended or could not be opened
   */
  WatcherWire(Gate gate, Runnable onClosed) {
    this.gate = gate;
    this.onClosed = onClosed;
  }

  /** Connects, when the gate lets it. */
  final void connect(EventLoop loop, InetSocketAddress address) {
    gate.enter(() -> loop.execute(() -> connectNow(loop, address)));
  }

  private void connectNow(EventLoop loop, InetSocketAddress address) {
    var unused =
        new Bootstrap()
            .group(loop)
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, CONNECT_TIMEOUT_MILLIS)
            .handler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    addCodec(channel.pipeline());
                    channel.pipeline().addLast(WatcherWire.this);
                  }
                })
            .connect(address)
            .addListener(
                done -> {
                  if (!done.isSuccess()) {
                    ended();
                  }
                });
  }

  /** Adds the handlers of the protocol. */
  abstract void addCodec(ChannelPipeline pipeline);

  /** The handshake is over, and another one may connect. */
  final void leaveGate() {
    if (isInGate) {
      isInGate = false;
      gate.leave();
    }
  }

  private void ended() {
    leaveGate();
    onClosed.run();
  }

  @Override
  public void channelInactive(ChannelHandlerContext gone) {
    ended();
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext from, Throwable cause) {
    var unused = from.close();
  }
}
