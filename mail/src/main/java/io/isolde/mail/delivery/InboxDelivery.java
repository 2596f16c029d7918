// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.delivery;

import io.isolde.mail.store.DeliveryId;
import io.isolde.mail.store.james.AlreadyDeliveredException;
import io.isolde.mail.store.james.DeliverySession;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.apache.james.core.Username;
import org.apache.james.mailbox.MailboxManager;
import org.apache.james.mailbox.MailboxSession;
import org.apache.james.mailbox.MessageManager;
import org.apache.james.mailbox.MessageManager.AppendCommand;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.exception.MailboxExistsException;
import org.apache.james.mailbox.exception.MailboxNotFoundException;
import org.apache.james.mailbox.model.Content;
import org.apache.james.mailbox.model.MailboxPath;

/**
 * Puts messages into inboxes. A message that comes again is recognised by its content, sender and
 * recipient: who sends on a message after a failure sends the same bytes, with the same Message-ID.
 * Of a message without one nobody knows whether it is the same, so each is one of its own.
 */
public final class InboxDelivery {
  private final MailboxManager mailboxes;

  /**
   * @param mailboxes of a store, which knows what it has taken; others take repetitions, too
   */
  public InboxDelivery(MailboxManager mailboxes) {
    this.mailboxes = mailboxes;
  }

  /**
   * Returns when the message is in the inbox, once.
   *
   * @param recipient a user
   * @param sender of the envelope; empty for none
   * @param message with CR LF at the end of each line; it is read several times
   * @param digest of what the sender has sent, without what each server adds; empty if the message
   *     is not to be recognised
   * @throws DeliveryFailedException if it may be there or not; another try does no harm
   */
  public void deliver(String recipient, String sender, Content message, Optional<byte[]> digest)
      throws DeliveryFailedException {
    MailboxSession session = mailboxes.createSystemSession(Username.of(recipient));
    digest.ifPresent(
        bytes -> DeliverySession.set(session, DeliveryId.of(bytes, sender, recipient)));
    mailboxes.startProcessingRequest(session);
    try {
      append(
          inbox(mailboxes, session), "Return-Path: <%s>\r\n".formatted(sender), message, session);
    } catch (AlreadyDeliveredException e) {
      // The sender repeats it: it was not sure of that.
    } catch (MailboxException | RuntimeException e) {
      throw new DeliveryFailedException(
          "The message for %s may be in the inbox or not".formatted(recipient), e);
    } finally {
      mailboxes.endProcessingRequest(session);
    }
  }

  private static void append(
      MessageManager inbox, String headers, Content message, MailboxSession session)
      throws MailboxException {
    MessageManager.AppendResult unused =
        inbox.appendMessage(
            AppendCommand.builder().recent().delivery().build(behind(headers, message)), session);
  }

  /** Copies nothing: a message may be large, and many may come at the same time. */
  static Content behind(String headers, Content message) {
    byte[] first = headers.getBytes(StandardCharsets.US_ASCII);
    return new Content() {
      @Override
      public InputStream getInputStream() throws IOException {
        return new SequenceInputStream(new ByteArrayInputStream(first), message.getInputStream());
      }

      @Override
      public long size() throws MailboxException {
        return first.length + message.size();
      }
    };
  }

  /** Opens the inbox of the session's user, and creates it if need be. */
  public static MessageManager inbox(MailboxManager mailboxes, MailboxSession session)
      throws MailboxException {
    MailboxPath path = MailboxPath.inbox(session);
    try {
      return mailboxes.getMailbox(path, session);
    } catch (MailboxNotFoundException missing) {
      try {
        mailboxes.createMailbox(path, session);
      } catch (MailboxExistsException e) {
        // Somebody else has created it meanwhile.
      }
      return mailboxes.getMailbox(path, session);
    }
  }
}
