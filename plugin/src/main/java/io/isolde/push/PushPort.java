// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import io.isolde.config.PushSettings;
import io.isolde.raft.transport.EventLoops;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.ssl.OptionalSslHandler;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.timeout.ReadTimeoutHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Collection;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.config.EncryptionOptions;
import org.apache.cassandra.security.ISslContextFactory;
import org.apache.cassandra.security.SSLFactory;

/** Listens for clients, with TLS as Cassandra's own port for clients has it. */
final class PushPort implements AutoCloseable {
  private static final int THREADS = 2;
  private static final int MAX_REQUEST_BYTES = 16 << 10;
  private static final int MAX_LOGIN_SECONDS = 20;

  /** Beyond it the node asks nothing more for this client. */
  private static final int MAX_QUEUED_BYTES = 64 << 10;

  private static final long MAX_SILENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final PushedStatements statements;
  private final int maxConnections;
  private final EventLoops loops = EventLoops.of("isolde-push-io", THREADS);
  private final PushThreads threads = new PushThreads();

  /** Those that have not logged in yet, too. */
  private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);

  /** By number: the last who came has the highest. */
  private final ConcurrentSkipListMap<Integer, PushConnection> connections =
      new ConcurrentSkipListMap<>();

  private final AtomicInteger lastNumber = new AtomicInteger();
  private final AtomicInteger watchers = new AtomicInteger();
  private final LongAdder lost = new LongAdder();
  private Channel listening;

  private PushPort(PushSettings settings, PushedStatements statements) {
    this.statements = statements;
    this.maxConnections = settings.maxConnections();
  }

  /** Listens where Cassandra listens for clients, on a port of its own. */
  static PushPort open(PushSettings settings, PushedStatements statements) throws IOException {
    PushPort port = new PushPort(settings, statements);
    try {
      port.listen(new InetSocketAddress(DatabaseDescriptor.getRpcAddress(), settings.port()));
      return port;
    } catch (IOException | RuntimeException e) {
      port.close();
      throw e;
    }
  }

  private void listen(InetSocketAddress address) throws IOException {
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(loops.application())
            .channel(EventLoops.serverChannel())
            .option(ChannelOption.SO_REUSEADDR, true)
            .option(ChannelOption.SO_BACKLOG, 4096)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(
                ChannelOption.WRITE_BUFFER_WATER_MARK,
                new WriteBufferWaterMark(MAX_QUEUED_BYTES / 2, MAX_QUEUED_BYTES))
            .childHandler(
                new ChannelInitializer<SocketChannel>() {
                  @Override
                  protected void initChannel(SocketChannel channel) throws IOException {
                    init(channel);
                  }
                });
    ChannelFuture bound = bootstrap.bind(address).awaitUninterruptibly();
    if (!bound.isSuccess()) {
      throw new IOException("Cannot listen at " + address + ".", bound.cause());
    }
    listening = bound.channel();
  }

  private void init(SocketChannel channel) throws IOException {
    if (channels.size() >= maxConnections) {
      var unused = channel.close();
      return;
    }
    channels.add(channel);
    EncryptionOptions options = DatabaseDescriptor.getNativeProtocolEncryptionOptions();
    switch (options.tlsEncryptionPolicy()) {
      case UNENCRYPTED -> {}
      case OPTIONAL -> channel.pipeline().addLast(new OptionalSslHandler(tls(options)));
      case ENCRYPTED -> channel.pipeline().addLast(tls(options).newHandler(channel.alloc()));
    }
    channel
        .pipeline()
        .addLast(new ReadTimeoutHandler(MAX_LOGIN_SECONDS))
        .addLast(new HttpServerCodec())
        .addLast(new HttpObjectAggregator(MAX_REQUEST_BYTES))
        .addLast(new PushHandshake(this));
  }

  /** Cassandra caches the contexts, and replaces them when the certificates change. */
  private static SslContext tls(EncryptionOptions options) throws IOException {
    return SSLFactory.getOrCreateSslContext(
        options,
        options.require_client_auth,
        ISslContextFactory.SocketType.SERVER,
        "the push port of Isolde");
  }

  /** Whether clients must use TLS. If it is optional, who has certificates to trust uses it. */
  static boolean needsTls() {
    return DatabaseDescriptor.getNativeProtocolEncryptionOptions().tlsEncryptionPolicy()
        == EncryptionOptions.TlsEncryptionPolicy.ENCRYPTED;
  }

  PushedStatements statements() {
    return statements;
  }

  PushThreads threads() {
    return threads;
  }

  /** Returns the connection's number. */
  int opened(PushConnection connection) {
    int number = lastNumber.incrementAndGet();
    connections.put(number, connection);
    return number;
  }

  void closed(PushConnection connection) {
    connections.remove(connection.number());
  }

  void counted(int more) {
    watchers.addAndGet(more);
  }

  void lost(int more) {
    lost.add(more);
  }

  int watchers() {
    return watchers.get();
  }

  long lost() {
    return lost.sum();
  }

  int count() {
    return connections.size();
  }

  /** The last that came first. */
  Collection<PushConnection> newestFirst() {
    return connections.descendingMap().values();
  }

  void move(int number, String address) {
    PushConnection connection = connections.get(number);
    if (connection != null) {
      connection.move(address);
    }
  }

  void keepAlive() {
    connections.values().forEach(connection -> connection.keepAlive(MAX_SILENCE_NANOS));
  }

  @Override
  public void close() {
    if (listening != null) {
      listening.close().awaitUninterruptibly();
    }
    channels.close().awaitUninterruptibly();
    loops.close();
    threads.close();
  }
}
