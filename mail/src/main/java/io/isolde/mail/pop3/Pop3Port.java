// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.pop3;

import io.isolde.mail.connection.LineServer;
import io.isolde.mail.connection.MailBounds;
import io.isolde.mail.connection.ServerTls;
import io.isolde.mail.connection.Workers;
import io.isolde.mail.login.MailLogins;
import io.isolde.mail.store.james.NoMetrics;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.james.mailbox.MailboxManager;
import org.apache.james.metrics.api.MetricFactory;
import org.apache.james.protocols.api.ProtocolConfiguration;
import org.apache.james.protocols.api.Request;
import org.apache.james.protocols.api.Response;
import org.apache.james.protocols.api.handler.CommandDispatcher;
import org.apache.james.protocols.api.handler.CommandHandlerResultLogger;
import org.apache.james.protocols.api.handler.ProtocolHandlerChainImpl;
import org.apache.james.protocols.api.handler.WiringException;
import org.apache.james.protocols.pop3.POP3Protocol;
import org.apache.james.protocols.pop3.POP3Response;
import org.apache.james.protocols.pop3.POP3Session;
import org.apache.james.protocols.pop3.core.CapaCmdHandler;
import org.apache.james.protocols.pop3.core.DeleCmdHandler;
import org.apache.james.protocols.pop3.core.ListCmdHandler;
import org.apache.james.protocols.pop3.core.NoopCmdHandler;
import org.apache.james.protocols.pop3.core.QuitCmdHandler;
import org.apache.james.protocols.pop3.core.RetrCmdHandler;
import org.apache.james.protocols.pop3.core.RsetCmdHandler;
import org.apache.james.protocols.pop3.core.StatCmdHandler;
import org.apache.james.protocols.pop3.core.StlsCmdHandler;
import org.apache.james.protocols.pop3.core.TopCmdHandler;
import org.apache.james.protocols.pop3.core.UidlCmdHandler;
import org.apache.james.protocols.pop3.core.UnknownCmdHandler;
import org.apache.james.protocols.pop3.core.UserCmdHandler;
import org.apache.james.protocols.pop3.core.WelcomeMessageHandler;

/** The commands of POP3: which of James' handlers there are, and ours between them. */
public final class Pop3Port {

  /** What a client gets for which there is no room. */
  public static final String REFUSAL = "-ERR [SYS/TEMP] Too many connections, try again later";

  private static final MetricFactory NO_METRICS = new NoMetrics();

  private Pop3Port() {}

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
      MailboxManager mailboxes,
      DropLocks locks) {
    ProtocolHandlerChainImpl chain = new ProtocolHandlerChainImpl();
    chain.addAll(
        List.of(
            new CommandDispatcher<POP3Session>(),
            new WelcomeMessageHandler(),
            new CapaCmdHandler(NO_METRICS),
            isClearAllowed ? new UserCmdHandler(NO_METRICS) : new EncryptedUser(),
            new Pop3Login(logins, mailboxes, locks),
            new ListCmdHandler(NO_METRICS),
            new UidlCmdHandler(NO_METRICS) {
              @Override
              public Set<String> getImplementedCapabilities(POP3Session session) {
                return Set.of("UIDL"); // clients ask before they log in
              }
            },
            new RsetCmdHandler(NO_METRICS),
            new DeleCmdHandler(NO_METRICS),
            new NoopCmdHandler(NO_METRICS),
            new RetrCmdHandler(NO_METRICS),
            new TopCmdHandler(NO_METRICS) {
              @Override
              public Set<String> getImplementedCapabilities(POP3Session session) {
                return Set.of("TOP");
              }
            },
            new StatCmdHandler(NO_METRICS),
            new QuitCmdHandler(NO_METRICS),
            new StlsCmdHandler(NO_METRICS),
            new UnknownCmdHandler(),
            new CommandHandlerResultLogger()));
    try {
      chain.wireExtensibleHandlers();
    } catch (WiringException e) {
      throw new IllegalStateException("The commands of POP3 do not fit together", e);
    }
    return new LineServer(
        new POP3Protocol(chain, new Settings(hostName)),
        workers,
        tls,
        session -> ((POP3Session) session).getHandlerState() == POP3Session.TRANSACTION,
        bounds.maxCommandsBeforeLogin(),
        bounds.beforeLogin(),
        bounds.idle(),
        bounds.maxLineBytes(),
        "-ERR Time or commands are used up, closing connection");
  }

  private record Settings(String hostName) implements ProtocolConfiguration {
    @Override
    public String getGreeting() {
      return null;
    }

    @Override
    public String getSoftwareName() {
      return "Isolde mail";
    }

    @Override
    public String getHelloName() {
      return hostName;
    }
  }

  /** USER for servers where a password may come with TLS only. */
  private static final class EncryptedUser extends UserCmdHandler {
    private static final Response REFUSED =
        new POP3Response(POP3Response.ERR_RESPONSE, "Say STLS first").immutable();

    EncryptedUser() {
      super(NO_METRICS);
    }

    @Override
    public Response onCommand(POP3Session session, Request request) {
      return session.isTLSStarted() ? super.onCommand(session, request) : REFUSED;
    }

    @Override
    public Set<String> getImplementedCapabilities(POP3Session session) {
      return session.isTLSStarted() ? super.getImplementedCapabilities(session) : Set.of();
    }
  }
}
