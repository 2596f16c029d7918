// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import io.isolde.config.PushSettings;
import io.isolde.notification.Balance;
import io.isolde.raft.transport.EventLoops;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
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
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.config.EncryptionOptions;
import org.apache.cassandra.net.SocketFactory;
import org.apache.cassandra.security.ISslContextFactory;
import org.apache.cassandra.security.SSLFactory;

/** Listens for clients, with TLS as Cassandra's own port for clients has it. */
final class PushPort implements Balance.Sessions, AutoCloseable {
  private static final int THREADS = 2;
  private static final int MAX_REQUEST_BYTES = 16 << 10;

  /** Connections that have not logged in yet; others are closed, and come again. */
  private static final int MAX_LOGGING_IN = 1_000;

  /** Beyond it the node asks nothing more for this client. */
  private static final int MAX_QUEUED_BYTES = 64 << 10;

  private static final long MAX_SILENCE_NANOS = TimeUnit.SECONDS.toNanos(30);

  private final PushedStatements statements;
  private final int maxConnections;
  private final EventLoops loops = EventLoops.of("isolde-push-io", THREADS);
  private final PushThreads threads = new PushThreads();
  private final SharedQuestions questions = new SharedQuestions();

  /** Those that have not logged in yet, too. */
  private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE, true);

  /** By number: the last who came has the highest. */
  private final ConcurrentSkipListMap<Integer, PushConnection> connections =
      new ConcurrentSkipListMap<>();

  /** If Cassandra bounds them. */
  private final ConcurrentHashMap<InetAddress, Integer> byAddress = new ConcurrentHashMap<>();

  private final AtomicInteger loggingIn = new AtomicInteger();
  private final AtomicInteger lastNumber = new AtomicInteger();
  private final AtomicInteger watchers = new AtomicInteger();

  /** Of the connections: the map would have to count them. */
  private final AtomicInteger count = new AtomicInteger();

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
    if (channels.size() >= maxConnections
        || loggingIn.get() >= MAX_LOGGING_IN
        || !hasRoomFor(channel)) {
      var unused = channel.close();
      return;
    }
    channels.add(channel);
    EncryptionOptions options = DatabaseDescriptor.getNativeProtocolEncryptionOptions();
    switch (options.tlsEncryptionPolicy()) {
      case UNENCRYPTED -> {}
      case OPTIONAL ->
          channel
              .pipeline()
              .addLast(
                  new OptionalSslHandler(tls(options)) {
                    @Override
                    protected SslHandler newSslHandler(
                        ChannelHandlerContext context, SslContext tls) {
                      return handler(context.channel(), tls, options);
                    }
                  });
      case ENCRYPTED -> channel.pipeline().addLast(handler(channel, tls(options), options));
    }
    channel
        .pipeline()
        .addLast(new HttpServerCodec())
        .addLast(new HttpObjectAggregator(MAX_REQUEST_BYTES))
        .addLast(new PushHandshake(this));
  }

  /** As Cassandra counts its own connections of an address; it counts none by default. */
  private boolean hasRoomFor(SocketChannel channel) {
    long max = DatabaseDescriptor.getNativeTransportMaxConcurrentConnectionsPerIp();
    if (max <= 0) {
      return true;
    }
    InetAddress client = channel.remoteAddress().getAddress();
    if (byAddress.merge(client, 1, Integer::sum) > max) {
      leave(client);
      return false;
    }
    channel.closeFuture().addListener(closed -> leave(client));
    return true;
  }

  private void leave(InetAddress client) {
    byAddress.computeIfPresent(client, (address, count) -> count == 1 ? null : count - 1);
  }

  /** As for Cassandra's own port: with the peer's name only if that is to be verified. */
  private static SslHandler handler(Channel channel, SslContext tls, EncryptionOptions options) {
    InetSocketAddress peer =
        options.require_endpoint_verification ? (InetSocketAddress) channel.remoteAddress() : null;
    return SocketFactory.newSslHandler(channel, tls, peer);
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

  SharedQuestions questions() {
    return questions;
  }

  PushThreads threads() {
    return threads;
  }

  /** Returns the connection's number. */
  int opened(PushConnection connection) {
    int number = lastNumber.incrementAndGet();
    connections.put(number, connection);
    count.incrementAndGet();
    return number;
  }

  void closed(PushConnection connection) {
    if (connections.remove(connection.number()) != null) {
      count.decrementAndGet();
    }
  }

  void loggingIn(int more) {
    loggingIn.addAndGet(more);
  }

  void counted(int more) {
    watchers.addAndGet(more);
  }

  void lost(int more) {
    lost.add(more);
  }

  @Override
  public int watchers() {
    return watchers.get();
  }

  @Override
  public OptionalInt watchersOf(int number) {
    PushConnection connection = connections.get(number);
    return connection == null ? OptionalInt.empty() : OptionalInt.of(connection.watchers());
  }

  long lost() {
    return lost.sum();
  }

  @Override
  public int count() {
    return count.get();
  }

  @Override
  public Stream<Balance.Session> newestFirst() {
    return connections.descendingMap().values().stream()
        .map(each -> new Balance.Session(each.number(), each.watchers()));
  }

  /** The sessions for operators, as soon as their event loops have looked. */
  List<Future<PushNode.Session>> shown() {
    return connections.descendingMap().values().stream().map(PushConnection::shown).toList();
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

  /** Nobody comes any more; who is here stays. */
  void stopListening() {
    if (listening != null) {
      listening.close().awaitUninterruptibly();
    }
  }

  @Override
  public void close() {
    stopListening();
    channels.close().awaitUninterruptibly();
    loops.close();
    threads.close();
  }
}
