// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.imap;

import io.isolde.mail.connection.MailBounds;
import io.isolde.mail.connection.ServerTls;
import io.isolde.mail.connection.Workers;
import io.isolde.mail.login.MailLogins;
import io.isolde.mail.store.james.NoMetrics;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.handler.timeout.WriteTimeoutHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.NonStickyEventExecutorGroup;
import io.netty.util.concurrent.UnorderedThreadPoolEventExecutor;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.james.events.EventBus;
import org.apache.james.imap.api.ImapConfiguration;
import org.apache.james.imap.api.process.ImapProcessor;
import org.apache.james.imap.decode.ImapDecoder;
import org.apache.james.imap.encode.main.DefaultImapEncoderFactory;
import org.apache.james.imap.encode.main.DefaultLocalizer;
import org.apache.james.imap.main.DefaultImapDecoderFactory;
import org.apache.james.imap.processor.main.DefaultImapProcessorFactory;
import org.apache.james.imapserver.netty.NettyConstants;
import org.apache.james.mailbox.MailboxManager;
import org.apache.james.mailbox.SubscriptionManager;
import org.apache.james.mailbox.quota.QuotaManager;
import org.apache.james.mailbox.quota.QuotaRootResolver;

/** The handlers of a connection of IMAP. James' own server has no bounds before the login. */
@SuppressWarnings("FutureReturnValueIgnored") // Netty closes a channel whose write fails
public final class ImapPort implements AutoCloseable {

  /** What a client gets for which there is no room. */
  public static final String REFUSAL = "* BYE Too many connections, try again later";

  /** Clients may be silent longer than elsewhere: RFC 9051 asks for 30 minutes, for IDLE. */
  private static final int IDLE_FACTOR = 3;

  /** A connection has one worker at a time; what it has to do waits elsewhere. */
  public static final int MAX_TASKS = 2;

  /** So long a part of an answer may be on its way to a client that does not read. */
  private static final int MAX_SLOW_SECONDS = 60;

  private static final int MAX_DECODERS = 8;

  /** A larger literal waits in a file until it is complete. */
  private static final int MAX_LITERAL_IN_MEMORY = 1 << 20;

  /**
   * What IMAP needs of a store.
   *
   * @param events what sessions hear of changes by
   */
  public record Store(
      MailboxManager mailboxes,
      SubscriptionManager subscriptions,
      EventBus events,
      QuotaManager quotas,
      QuotaRootResolver quotaRoots) {}

  private final MailBounds bounds;
  private final ImapDecoder decoder = DefaultImapDecoderFactory.createDecoder();
  private final EventExecutorGroup decoders;
  private final ImapCommands.Server server;

  /**
   * Makes the port's server.
   *
   * @param isClearAllowed whether passwords may come without TLS
   */
  public ImapPort(
      String hostName,
      MailBounds bounds,
      boolean isClearAllowed,
      Optional<ServerTls> tls,
      Workers workers,
      MailLogins logins,
      Store store) {
    this.bounds = bounds;
    // At most one task of each connection waits here: the group runs a connection's in turn.
    decoders =
        new NonStickyEventExecutorGroup(
            new UnorderedThreadPoolEventExecutor(
                MAX_DECODERS, new DefaultThreadFactory("mail-imap", true)));
    ImapProcessor processor = processor(store, logins);
    processor.configure(
        ImapConfiguration.builder()
            .isCondstoreEnable(true)
            .isProvisionDefaultMailboxes(false)
            .appendLimit(bounds.maxMessageBytes())
            .build());
    server =
        new ImapCommands.Server(
            hostName + " IMAP4rev1 server (Isolde mail) ready",
            processor,
            DefaultImapEncoderFactory.createDefaultEncoder(new DefaultLocalizer(), false),
            tls,
            isClearAllowed,
            workers,
            new SlowClients(workers.count()));
  }

  private static ImapProcessor processor(Store store, MailLogins logins) {
    return new ExaminedMailboxes(
        DefaultImapProcessorFactory.createDefaultProcessor(
            FullNames.of(store.mailboxes(), logins),
            store.events(),
            store.subscriptions(),
            store.quotas(),
            store.quotaRoots(),
            new NoMetrics()));
  }

  /** Adds the handlers of a new connection. */
  public void add(SocketChannel channel) {
    ChannelPipeline pipeline = channel.pipeline();
    long idleMillis = bounds.idle().multipliedBy(IDLE_FACTOR).toMillis();
    pipeline.addLast(new IdleStateHandler(idleMillis, 0, 0, TimeUnit.MILLISECONDS));
    pipeline.addLast(new WriteTimeoutHandler(MAX_SLOW_SECONDS));
    pipeline.addLast(NettyConstants.FRAMER, FramedDecoder.lines(bounds.maxLineBytes()));
    ImapFlow flow = new ImapFlow(bounds.beforeLogin());
    pipeline.addLast(decoders, FramedDecoder.FLOW, flow);
    pipeline.addLast(
        decoders,
        NettyConstants.REQUEST_DECODER,
        new FramedDecoder(
            decoder, MAX_LITERAL_IN_MEMORY, bounds.maxMessageBytes(), bounds.maxLineBytes(), flow));
    pipeline.addLast(decoders, NettyConstants.CORE_HANDLER, new ImapCommands(server, flow));
  }

  @Override
  public void close() {
    decoders.shutdownGracefully(0, 1, TimeUnit.SECONDS);
  }
}
