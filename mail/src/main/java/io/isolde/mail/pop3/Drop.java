// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.pop3;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.james.mailbox.MailboxManager;
import org.apache.james.mailbox.MailboxSession;
import org.apache.james.mailbox.MessageManager;
import org.apache.james.mailbox.MessageUid;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.model.FetchGroup;
import org.apache.james.mailbox.model.MessageRange;
import org.apache.james.mailbox.model.MessageResult;
import org.apache.james.protocols.pop3.mailbox.Mailbox;
import org.apache.james.protocols.pop3.mailbox.MessageMetaData;

/** The inbox of a user, as POP3 sees it. */
final class Drop implements Mailbox {

  /** A client that wants more has to delete some first; the oldest ones are listed. */
  private static final int MAX_LISTED = 100_000;

  /** Between the two numbers of a unique id. */
  private static final char DASH = '-';

  private final MailboxManager mailboxes;
  private final MessageManager inbox;
  private final MailboxSession session;
  private final DropLocks.Held lock;

  Drop(
      MailboxManager mailboxes, MessageManager inbox, MailboxSession session, DropLocks.Held lock) {
    this.mailboxes = mailboxes;
    this.inbox = inbox;
    this.session = session;
    this.lock = lock;
  }

  private interface Work<T> {
    T run() throws MailboxException, IOException;
  }

  private <T> T request(Work<T> work) throws IOException {
    mailboxes.startProcessingRequest(session);
    try {
      return work.run();
    } catch (MailboxException | RuntimeException e) {
      throw new IOException("The mailbox can't be read or changed", e);
    } finally {
      mailboxes.endProcessingRequest(session);
    }
  }

  @Override
  public InputStream getMessage(String uniqueId) throws IOException {
    return request(
        () -> {
          Iterator<MessageResult> found =
              inbox.getMessages(uid(uniqueId).toRange(), FetchGroup.FULL_CONTENT, session);
          if (!found.hasNext()) {
            throw new IOException("Message %s is gone".formatted(uniqueId));
          }
          try (InputStream in = found.next().getFullContent().getInputStream()) {
            return new ByteArrayInputStream(in.readAllBytes());
          }
        });
  }

  @Override
  public List<MessageMetaData> getMessages() throws IOException {
    String validity = getIdentifier();
    return request(
        () -> {
          Iterator<MessageResult> found =
              inbox.getMessages(MessageRange.all(), FetchGroup.MINIMAL, session);
          List<MessageMetaData> messages = new ArrayList<>();
          while (found.hasNext() && messages.size() < MAX_LISTED) {
            MessageResult message = found.next();
            messages.add(
                new MessageMetaData(
                    validity + DASH + message.getUid().asLong(), message.getSize()));
          }
          return messages;
        });
  }

  @Override
  public void remove(String... uniqueIds) throws IOException {
    if (uniqueIds.length == 0) {
      return;
    }
    if (!lock.isHeld()) {
      throw new IOException("The lock on the drop is lost, so nothing is deleted");
    }
    List<MessageUid> uids = new ArrayList<>();
    for (String uniqueId : uniqueIds) {
      uids.add(uid(uniqueId));
    }
    request(
        () -> {
          inbox.delete(uids, session);
          return null;
        });
  }

  private static MessageUid uid(String uniqueId) {
    return MessageUid.of(Long.parseLong(uniqueId.substring(uniqueId.indexOf(DASH) + 1)));
  }

  @Override
  public String getIdentifier() throws IOException {
    return request(() -> Long.toString(inbox.getMailboxEntity().getUidValidity().asLong()));
  }

  @Override
  public void close() {
    lock.release();
  }
}
