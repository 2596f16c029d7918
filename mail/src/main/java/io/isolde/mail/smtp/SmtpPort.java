// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.smtp;

import io.isolde.mail.connection.LineServer;
import io.isolde.mail.connection.MailBounds;
import io.isolde.mail.connection.ServerTls;
import io.isolde.mail.connection.Workers;
import io.isolde.mail.delivery.InboxDelivery;
import io.isolde.mail.login.MailLogins;
import io.isolde.mail.store.james.NoMetrics;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.apache.james.metrics.api.MetricFactory;
import org.apache.james.protocols.api.handler.CommandDispatcher;
import org.apache.james.protocols.api.handler.CommandHandlerResultLogger;
import org.apache.james.protocols.api.handler.ProtocolHandler;
import org.apache.james.protocols.api.handler.WiringException;
import org.apache.james.protocols.smtp.SMTPProtocol;
import org.apache.james.protocols.smtp.SMTPProtocolHandlerChain;
import org.apache.james.protocols.smtp.SMTPSession;
import org.apache.james.protocols.smtp.core.DataCmdHandler;
import org.apache.james.protocols.smtp.core.DataLineMessageHookHandler;
import org.apache.james.protocols.smtp.core.HeloCmdHandler;
import org.apache.james.protocols.smtp.core.HelpCmdHandler;
import org.apache.james.protocols.smtp.core.MailCmdHandler;
import org.apache.james.protocols.smtp.core.NoopCmdHandler;
import org.apache.james.protocols.smtp.core.QuitCmdHandler;
import org.apache.james.protocols.smtp.core.RcptCmdHandler;
import org.apache.james.protocols.smtp.core.RsetCmdHandler;
import org.apache.james.protocols.smtp.core.UnknownCmdHandler;
import org.apache.james.protocols.smtp.core.VrfyCmdHandler;
import org.apache.james.protocols.smtp.core.WelcomeMessageHandler;
import org.apache.james.protocols.smtp.core.esmtp.EhloCmdHandler;
import org.apache.james.protocols.smtp.core.esmtp.MailSizeEsmtpExtension;
import org.apache.james.protocols.smtp.core.esmtp.StartTlsCmdHandler;
import org.apache.james.protocols.smtp.core.fastfail.MaxRcptHandler;
import org.apache.james.protocols.smtp.core.fastfail.MaxUnknownCmdHandler;

/** The commands of SMTP: which of James' handlers there are, and ours between them. */
public final class SmtpPort {

  /** What a client gets for which there is no room. */
  public static final String REFUSAL = "421 4.3.2 Too many connections, try again later";

  /** Who sends mail to users need not log in, so these are more than elsewhere. */
  private static final int MAX_COMMANDS = 1_000;

  private static final Duration MAX_STAY_WITHOUT_LOGIN = Duration.ofMinutes(30);

  /** Of the process's memory, messages that are being received may have one such part. */
  private static final int MEMORY_PARTS = 4;

  /** Of their memory an address may have one such part, or room for the largest message. */
  private static final int ADDRESS_PARTS = 4;

  private static final MetricFactory NO_METRICS = new NoMetrics();

  private SmtpPort() {}

  /**
   * Makes the port's server.
   *
   * @param isClearAllowed whether passwords may come without TLS
   */
  public static LineServer server(
      String hostName,
      MailBounds bounds,
      boolean isClearAllowed,
      Optional<ServerTls> tls,
      Workers workers,
      MailLogins logins,
      InboxDelivery delivery) {
    long maxBytes =
        Math.min(bounds.maxReceivingBytes(), Runtime.getRuntime().maxMemory() / MEMORY_PARTS);
    SmtpSettings settings =
        new SmtpSettings(
            hostName,
            (int) Math.min(bounds.maxMessageBytes(), maxBytes / ReceivingFilter.MEMORY_OF_A_BYTE),
            isClearAllowed);
    SMTPProtocolHandlerChain chain = new SMTPProtocolHandlerChain(NO_METRICS, false);
    chain.addAll(handlers(bounds.maxRecipients(), maxBytes, settings, logins, delivery));
    try {
      chain.wireExtensibleHandlers();
    } catch (WiringException e) {
      throw new IllegalStateException("The commands of SMTP do not fit together", e);
    }
    return new LineServer(
        new SMTPProtocol(chain, settings),
        workers,
        tls,
        session -> session.getUsername() != null,
        MAX_COMMANDS,
        MAX_STAY_WITHOUT_LOGIN,
        bounds.idle(),
        bounds.maxLineBytes(),
        "421 4.4.2 Time or commands are used up, closing connection");
  }

  /** The memory of all messages that a port's server is receiving now. */
  public static long receivingBytes(LineServer server) {
    return server
        .protocol()
        .getProtocolChain()
        .getFirstHandler(ReceivingFilter.class)
        .orElseThrow()
        .reservedBytes();
  }

  private static List<ProtocolHandler> handlers(
      int maxRecipients,
      long maxBytes,
      SmtpSettings settings,
      MailLogins logins,
      InboxDelivery delivery) {
    int maxMessageBytes = settings.maxMessageBytes();
    long maxBytesOfAddress =
        Math.max(
            maxBytes / ADDRESS_PARTS, (long) ReceivingFilter.MEMORY_OF_A_BYTE * maxMessageBytes);
    String domain = logins.domain();
    MaxRcptHandler recipients = new MaxRcptHandler();
    recipients.setMaxRcpt(maxRecipients);
    return List.of(
        new CommandDispatcher<SMTPSession>(),
        new WelcomeMessageHandler(),
        new EhloCmdHandler(NO_METRICS),
        new HeloCmdHandler(NO_METRICS),
        new HelpCmdHandler(),
        new MailCmdHandler(NO_METRICS) {
          @Override
          protected String getDefaultDomain() {
            return domain;
          }
        },
        new RcptCmdHandler(NO_METRICS) {
          @Override
          protected String getDefaultDomain() {
            return domain;
          }
        },
        new DataCmdHandler(NO_METRICS),
        new RsetCmdHandler(),
        new VrfyCmdHandler(),
        new NoopCmdHandler(),
        new QuitCmdHandler(NO_METRICS),
        new StartTlsCmdHandler(),
        new UnknownCmdHandler(NO_METRICS),
        new MaxUnknownCmdHandler(),
        // The filters of a message's lines, in their order.
        new ReceivingFilter(
            maxMessageBytes, new ReceivingMemory(maxBytes, maxBytesOfAddress), System::nanoTime),
        new MailSizeEsmtpExtension(),
        new TraceHeader(),
        new DataLineMessageHookHandler(),
        recipients,
        new AddressRules(logins),
        new SmtpLogin(logins, settings),
        new SmtpDelivery(delivery, logins),
        new CommandHandlerResultLogger());
  }
}
