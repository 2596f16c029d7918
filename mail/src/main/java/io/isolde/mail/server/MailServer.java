// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import io.isolde.mail.connection.Admission;
import io.isolde.mail.connection.LineServer;
import io.isolde.mail.connection.Listener;
import io.isolde.mail.connection.MailBounds;
import io.isolde.mail.connection.ServerTls;
import io.isolde.mail.connection.Workers;
import io.isolde.mail.delivery.InboxDelivery;
import io.isolde.mail.imap.ImapPort;
import io.isolde.mail.login.MailLogins;
import io.isolde.mail.pop3.DropLocks;
import io.isolde.mail.pop3.Pop3Port;
import io.isolde.mail.smtp.SmtpPort;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A mail server: SMTP, POP3 and IMAP for the mailboxes of a store. */
public final class MailServer implements AutoCloseable {

  /** Threads of the network never wait, so few of them do for all connections. */
  private static final int MAX_NETWORK_THREADS = 2;

  private static final int PORTS = 3;
  private static final int MAX_CLOSING_SECONDS = 10;

  /**
   * What a server serves.
   *
   * @param logins who may log in
   * @param delivery how messages come into inboxes
   * @param locks on the drops of POP3; the server closes them
   * @param store the mailboxes, for IMAP and POP3
   */
  public record Parts(
      MailLogins logins, InboxDelivery delivery, DropLocks locks, ImapPort.Store store) {}

  private final MailServerSettings settings;
  private final Parts parts;
  private final EventLoopGroup network;
  private final Workers workers;

  /**
   * IMAP's own: they wait for clients that are slow to read, and others are not to wait for that.
   */
  private final Workers imapWorkers;

  private final ImapPort imap;
  private LineServer smtp;
  private final List<Listener> listeners = new ArrayList<>();

  private MailServer(MailServerSettings settings, Parts parts) {
    this.settings = settings;
    this.parts = parts;
    MailBounds bounds = settings.bounds();
    network =
        new NioEventLoopGroup(MAX_NETWORK_THREADS, new DefaultThreadFactory("mail-network", true));
    // A connection has at most a command and its end under way, and a handshake.
    workers = new Workers(settings.workers(), PORTS * 3 * bounds.maxConnections());
    imapWorkers = new Workers(settings.workers(), ImapPort.MAX_TASKS * bounds.maxConnections());
    imap =
        new ImapPort(
            settings.hostName(),
            bounds,
            settings.isClearAllowed(),
            tls(),
            imapWorkers,
            parts.logins(),
            parts.store());
  }

  private Optional<ServerTls> tls() {
    return settings.tls().map(context -> new ServerTls(context, workers));
  }

  /**
   * Opens the ports.
   *
   * @throws IOException if one of them can't be had; then none is open
   */
  public static MailServer start(MailServerSettings settings, Parts parts) throws IOException {
    MailServer server = new MailServer(settings, parts);
    try {
      server.open();
    } catch (IOException | RuntimeException e) {
      server.close();
      throw e;
    }
    return server;
  }

  private void open() throws IOException {
    MailBounds bounds = settings.bounds();
    smtp =
        SmtpPort.server(
            settings.hostName(),
            bounds,
            settings.isClearAllowed(),
            tls(),
            workers,
            parts.logins(),
            parts.delivery());
    LineServer pop3 =
        Pop3Port.server(
            settings.hostName(),
            bounds,
            settings.isClearAllowed(),
            tls(),
            workers,
            parts.logins(),
            parts.store().mailboxes(),
            parts.locks());
    listen(settings.smtpPort(), SmtpPort.REFUSAL, smtp::add);
    listen(settings.pop3Port(), Pop3Port.REFUSAL, pop3::add);
    listen(settings.imapPort(), ImapPort.REFUSAL, imap::add);
  }

  private void listen(int port, String refusal, Consumer<SocketChannel> pipeline)
      throws IOException {
    MailBounds bounds = settings.bounds();
    listeners.add(
        Listener.open(
            new InetSocketAddress(settings.address(), port),
            network,
            new Admission(bounds.maxConnections(), bounds.maxConnectionsPerAddress()),
            refusal,
            pipeline));
  }

  public int smtpPort() {
    return listeners.get(0).port();
  }

  public int pop3Port() {
    return listeners.get(1).port();
  }

  public int imapPort() {
    return listeners.get(2).port();
  }

  /** How many connections of clients there are, of all ports. */
  public int connections() {
    return listeners.stream().mapToInt(Listener::connections).sum();
  }

  /** The memory of all messages that SMTP is receiving now. */
  long receivingBytes() {
    return SmtpPort.receivingBytes(smtp);
  }

  /** Closes the ports and connections. A delivery that has started ends first, within 30 s. */
  @Override
  public void close() {
    listeners.forEach(Listener::close);
    workers.close();
    imapWorkers.close();
    imap.close();
    parts.locks().close();
    network
        .shutdownGracefully(0, MAX_CLOSING_SECONDS, TimeUnit.SECONDS)
        .awaitUninterruptibly(MAX_CLOSING_SECONDS, TimeUnit.SECONDS);
  }
}
