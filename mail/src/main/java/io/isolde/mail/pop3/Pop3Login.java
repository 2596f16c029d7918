// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.pop3;

import io.isolde.mail.delivery.InboxDelivery;
import io.isolde.mail.login.MailLogins;
import io.isolde.mail.store.james.NoMetrics;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import org.apache.james.core.Username;
import org.apache.james.mailbox.MailboxManager;
import org.apache.james.mailbox.MailboxSession;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.protocols.api.Request;
import org.apache.james.protocols.api.Response;
import org.apache.james.protocols.api.handler.DisconnectHandler;
import org.apache.james.protocols.pop3.POP3Response;
import org.apache.james.protocols.pop3.POP3Session;
import org.apache.james.protocols.pop3.core.CapaCapability;
import org.apache.james.protocols.pop3.core.RsetCmdHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** PASS, which opens and locks the drop; and the end of a connection, which unlocks it. */
final class Pop3Login extends RsetCmdHandler
    implements CapaCapability, DisconnectHandler<POP3Session> {
  private static final Logger log = LoggerFactory.getLogger(Pop3Login.class);

  private static final Response SEQUENCE = error("Say USER before PASS");
  private static final Response WRONG = error("[AUTH] The user or the password is wrong");
  private static final Response LATER = error("[SYS/TEMP] Try again later");
  private static final Response LOCKED = error("[IN-USE] Another client has this mailbox");

  private final MailLogins logins;
  private final MailboxManager mailboxes;
  private final DropLocks locks;

  Pop3Login(MailLogins logins, MailboxManager mailboxes, DropLocks locks) {
    super(new NoMetrics());
    this.logins = logins;
    this.mailboxes = mailboxes;
    this.locks = locks;
  }

  private static Response error(String text) {
    return new POP3Response(POP3Response.ERR_RESPONSE, text).immutable();
  }

  @Override
  public Collection<String> getImplCommands() {
    return Set.of("PASS");
  }

  @Override
  public Set<String> getImplementedCapabilities(POP3Session session) {
    return Set.of("RESP-CODES", "AUTH-RESP-CODE");
  }

  @Override
  public Response onCommand(POP3Session session, Request request) {
    if (session.getHandlerState() != POP3Session.AUTHENTICATION_USERSET
        || request.getArgument() == null) {
      return SEQUENCE;
    }
    session.setHandlerState(POP3Session.AUTHENTICATION_READY);
    String name = session.getUsername().asString();
    try {
      return switch (logins.check(
          name, request.getArgument(), session.getRemoteAddress().getAddress())) {
        case WELCOME -> open(session, logins.address(name));
        case WRONG -> WRONG;
        case LATER -> LATER;
      };
    } catch (MailboxException | RuntimeException e) {
      log.error("The drop of {} can't be opened", name, e);
      return LATER;
    }
  }

  private Response open(POP3Session session, String address) throws MailboxException {
    Optional<DropLocks.Held> lock = locks.tryLock(address);
    if (lock.isEmpty()) {
      return LOCKED;
    }
    boolean isOpen = false;
    MailboxSession mailboxSession = mailboxes.createSystemSession(Username.of(address));
    mailboxes.startProcessingRequest(mailboxSession);
    try {
      session.setUserMailbox(
          new Drop(
              mailboxes,
              InboxDelivery.inbox(mailboxes, mailboxSession),
              mailboxSession,
              lock.get()));
      stat(session);
      isOpen =
          session.getAttachment(POP3Session.UID_LIST, POP3Session.State.Transaction).isPresent();
    } finally {
      mailboxes.endProcessingRequest(mailboxSession);
      if (!isOpen) {
        lock.get().release();
      }
    }
    if (!isOpen) {
      return LATER;
    }
    session.setHandlerState(POP3Session.TRANSACTION);
    return new POP3Response(POP3Response.OK_RESPONSE, "Welcome " + address);
  }

  /** Without QUIT nothing is deleted. After QUIT, the lock has been given back already. */
  @Override
  public void onDisconnect(POP3Session session) {
    if (session.getUserMailbox() instanceof Drop drop) {
      drop.close();
    }
  }
}
