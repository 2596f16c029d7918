// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;

/**
 * The one port of a node: Raft between the members, and requests of the application from anybody.
 *
 * <p>Both have connections and event loops of their own, so that heartbeats and votes don't wait
 * behind bulk data. A connection is refused by its address before anything is read from it.
 */
public final class PeerTransport implements AutoCloseable {
  /** Raft requests that wait for a thread. */
  private static final int QUEUED_RAFT_REQUESTS = 4096;

  private final String name;
  private final TransportSettings settings;
  private final TransportSecurity security;
  private final Predicate<InetSocketAddress> accept;
  private final ApplicationServices application;
  private final EventLoops loops;
  private final ThreadPoolExecutor workers;
  private final ChannelGroup accepted = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);
  private final LogLimit logLimit = new LogLimit();
  private final RefusalLog refusals = new RefusalLog(logLimit);
  private final OtherBuilds otherBuilds;
  private final LongAdder slowReaders = new LongAdder();

  /** Of this node to itself; as many as its own clients open. */
  private final Set<LocalConnection> locals = ConcurrentHashMap.newKeySet();

  private volatile RaftReceiver raft = RaftReceiver.NONE;
  private Channel listening;

  private PeerTransport(Builder builder) {
    this.name = builder.name;
    this.settings = builder.settings;
    this.security = builder.security;
    this.accept = builder.accept;
    this.otherBuilds = new OtherBuilds(builder.formats, new LogLimit());
    this.application = new ApplicationServices(builder.application);
    this.loops = EventLoops.forNode(settings);
    this.workers =
        new ThreadPoolExecutor(
            settings.workerThreads(),
            settings.workerThreads(),
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(QUEUED_RAFT_REQUESTS),
            new DefaultThreadFactory("isolde-raft-worker", true));
    workers.allowCoreThreadTimeOut(true);
  }

  /** What a transport is made of; only the name is needed. */
  public static Builder builder(String name) {
    return new Builder(name);
  }

  /** The address where it listens. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listening.localAddress();
  }

  /** Connections that were refused because of their address. */
  public long refusedConnections() {
    return refusals.count();
  }

  /**
   * About a node that was refused lately since its build and this one's understand nothing of each
   * other; empty if there is none.
   */
  public Optional<String> otherBuild() {
    return otherBuilds.problem();
  }

  /** Connections that were closed because they did not read their answers. */
  public long slowReaders() {
    return slowReaders.sum();
  }

  /**
   * Connects to a node for application requests, with this node's threads and settings; to itself
   * without a socket.
   */
  public CompletableFuture<PeerClient> connect(InetSocketAddress address, Runnable onClosed) {
    if (address.equals(address())) {
      return CompletableFuture.completedFuture(connectLocally(onClosed));
    }
    return ClientConnection.forApplication(dialing(loops.application()), address, onClosed);
  }

  private LocalConnection connectLocally(Runnable onClosed) {
    locals.removeIf(connection -> !connection.isOpen());
    LocalConnection connection =
        new LocalConnection(
            application, address(), loops.application().next(), settings.maxInFlight(), onClosed);
    locals.add(connection);
    return connection;
  }

  /** From the address where it listens, if that is one: others know it by that. */
  Dialing dialing(EventLoopGroup group) {
    InetAddress here = address().getAddress();
    return new Dialing(
        group, here.isAnyLocalAddress() ? null : here, settings, security, otherBuilds);
  }

  private void listen(InetSocketAddress bind) throws IOException {
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(loops.application())
            .channel(EventLoops.serverChannel())
            .option(ChannelOption.SO_REUSEADDR, true)
            .option(ChannelOption.SO_BACKLOG, 1024)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.SO_KEEPALIVE, true)
            .childOption(
                ChannelOption.WRITE_BUFFER_WATER_MARK, ClientConnection.waterMark(settings))
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) {
                    init(channel);
                  }
                });
    ChannelFuture bound = bootstrap.bind(bind).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException("Cannot listen at " + bind + ".", bound.cause());
    }
    listening = bound.channel();
  }

  private void init(SocketChannel channel) {
    if (!accept.test(channel.remoteAddress())) {
      refusals.refused(channel.remoteAddress());
      var unusedClose = channel.close();
      return;
    }
    accepted.add(channel);
    security
        .server()
        .get()
        .ifPresent(tls -> channel.pipeline().addLast(tls.newHandler(channel.alloc())));
    channel
        .pipeline()
        .addLast(Frame.decoder(settings.maxFrameBytes()))
        .addLast(new FlushConsolidationHandler(256, true))
        .addLast(Frame.Encoder.INSTANCE)
        .addLast(new ServerConnection(this, channel));
  }

  /** From now on the handler answers the requests of one service, in place of the builder's. */
  public void serve(byte service, ApplicationHandler handler) {
    application.serve(service, handler);
  }

  /** From now on the receiver gets the requests of Raft. */
  public void serveRaft(RaftReceiver receiver) {
    raft = receiver;
  }

  void onRaftRequest(ServerConnection from, byte kind, long requestId, ByteBuf body) {
    raft.onRequest(from, kind, requestId, body);
  }

  void onRaftClosed(String sender) {
    raft.onClosed(sender);
  }

  void onSlowReader() {
    slowReaders.increment();
  }

  /** Whether a line about a peer is to be logged again already. */
  boolean isToBeLogged(String line, Channel peer) {
    InetSocketAddress remote = (InetSocketAddress) peer.remoteAddress();
    return logLimit.allows(Arrays.asList(line, remote == null ? null : remote.getAddress()));
  }

  /** This node's name, which never changes. */
  public String name() {
    return name;
  }

  /** The bounds. */
  public TransportSettings settings() {
    return settings;
  }

  TransportSecurity security() {
    return security;
  }

  OtherBuilds otherBuilds() {
    return otherBuilds;
  }

  ApplicationHandler application() {
    return application;
  }

  EventLoops loops() {
    return loops;
  }

  /** Threads for what Raft must not do on event loops; refuses when too much waits for them. */
  public Executor workers() {
    return workers;
  }

  /** Stops listening, closes all connections, ends the threads; within five seconds. */
  @Override
  public void close() {
    if (listening != null) {
      listening.close().awaitUninterruptibly(1, TimeUnit.SECONDS);
    }
    accepted.close().awaitUninterruptibly(1, TimeUnit.SECONDS);
    locals.forEach(LocalConnection::close);
    workers.shutdownNow();
    loops.close();
  }

  /** What a {@link PeerTransport} is made of. */
  public static final class Builder {
    private final String name;
    private TransportSettings settings = TransportSettings.defaults();
    private TransportSecurity security = TransportSecurity.none();
    private Predicate<InetSocketAddress> accept = address -> true;
    private ApplicationHandler application = ApplicationHandler.NONE;
    private Formats formats = Formats.ofThisBuild();

    private Builder(String name) {
      this.name = name;
    }

    /** The bounds. */
    public Builder settings(TransportSettings newSettings) {
      settings = newSettings;
      return this;
    }

    /** How connections are encrypted; plain text if it isn't given. */
    public Builder security(TransportSecurity newSecurity) {
      security = newSecurity;
      return this;
    }

    /** Which addresses may connect; all if it isn't given. Asked on event loops: must not block. */
    public Builder accept(Predicate<InetSocketAddress> newAccept) {
      accept = newAccept;
      return this;
    }

    /** Who answers the requests that are not Raft's. */
    public Builder application(ApplicationHandler newApplication) {
      application = newApplication;
      return this;
    }

    /** Those of another build than this one, for tests. */
    Builder formats(Formats newFormats) {
      formats = newFormats;
      return this;
    }

    /** Listens; port 0 takes a free one. */
    public PeerTransport listen(InetSocketAddress bind) throws IOException {
      PeerTransport transport = new PeerTransport(this);
      try {
        transport.listen(bind);
      } catch (IOException e) {
        transport.close();
        throw e;
      }
      return transport;
    }
  }
}
