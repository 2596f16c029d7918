// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/** The threads that read and write connections: few for Raft, others for everything else. */
public final class EventLoops implements AutoCloseable {
  private static final boolean EPOLL = Epoll.isAvailable();

  private final EventLoopGroup raft;
  private final EventLoopGroup application;

  private EventLoops(EventLoopGroup raft, EventLoopGroup application) {
    this.raft = raft;
    this.application = application;
  }

  /** Threads for a node. */
  static EventLoops forNode(TransportSettings settings) {
    return new EventLoops(
        group("isolde-raft-io", settings.raftThreads()),
        group("isolde-io", settings.applicationThreads()));
  }

  /** Threads for a process that has connections to nodes, but is none. */
  public static EventLoops forClients(int threads) {
    return of("isolde-client-io", threads);
  }

  /** Threads for a port that is not for nodes. */
  public static EventLoops of(String name, int threads) {
    EventLoopGroup group = group(name, threads);
    return new EventLoops(group, group);
  }

  private static EventLoopGroup group(String name, int threads) {
    ThreadFactory factory = new DefaultThreadFactory(name, true);
    return EPOLL
        ? new EpollEventLoopGroup(threads, factory)
        : new NioEventLoopGroup(threads, factory);
  }

  EventLoopGroup raft() {
    return raft;
  }

  /** For all that is not Raft. */
  public EventLoopGroup application() {
    return application;
  }

  static Class<? extends SocketChannel> clientChannel() {
    return EPOLL ? EpollSocketChannel.class : NioSocketChannel.class;
  }

  /** Of sockets that listen, with such threads. */
  public static Class<? extends ServerSocketChannel> serverChannel() {
    return EPOLL ? EpollServerSocketChannel.class : NioServerSocketChannel.class;
  }

  /** Ends the threads within two seconds. */
  @Override
  public void close() {
    raft.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly(2, TimeUnit.SECONDS);
    application
        .shutdownGracefully(0, 1, TimeUnit.SECONDS)
        .awaitUninterruptibly(2, TimeUnit.SECONDS);
  }
}
