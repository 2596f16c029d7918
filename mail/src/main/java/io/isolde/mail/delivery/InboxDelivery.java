// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.delivery;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.Optional;
import org.apache.james.core.Username;
import org.apache.james.mailbox.MailboxManager;
import org.apache.james.mailbox.MailboxSession;
import org.apache.james.mailbox.MessageManager;
import org.apache.james.mailbox.MessageManager.AppendCommand;
import org.apache.james.mailbox.MessageManager.MailboxMetaData;
import org.apache.james.mailbox.MessageManager.MailboxMetaData.RecentMode;
import org.apache.james.mailbox.MessageUid;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.exception.MailboxExistsException;
import org.apache.james.mailbox.exception.MailboxNotFoundException;
import org.apache.james.mailbox.model.Content;
import org.apache.james.mailbox.model.FetchGroup;
import org.apache.james.mailbox.model.Header;
import org.apache.james.mailbox.model.MailboxPath;
import org.apache.james.mailbox.model.MessageRange;
import org.apache.james.mailbox.model.MessageResult;

/**
 * Puts messages into inboxes. A message that comes again is recognised by its content, sender and
 * recipient: who sends on a message after a failure sends the same bytes, with the same Message-ID.
 * Of a message without one nobody knows whether it is the same, so each is one of its own.
 *
 * <p>Before a message goes into an inbox, the ledger gets an entry. If nothing fails, the entry is
 * done afterwards. If the entry is there and not done, the message is looked for in the inbox.
 */
public final class InboxDelivery {

  private static final String RETURN_PATH = "Return-Path";

  /** Marks a message in the inbox, for the search after a failure. */
  static final String HEADER = "X-Isolde-Delivery";

  /** Requests of a delivery that has failed may be under way for so long. */
  static final Duration MAX_DELIVERY = Duration.ofMinutes(2);

  /** After a failure so many messages are searched that came since. */
  private static final int MAX_SEARCHED = 10_000;

  private final MailboxManager mailboxes;
  private final DeliveryLedger ledger;
  private final InstantSource clock;

  public InboxDelivery(MailboxManager mailboxes, DeliveryLedger ledger, InstantSource clock) {
    this.mailboxes = mailboxes;
    this.ledger = ledger;
    this.clock = clock;
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
    mailboxes.startProcessingRequest(session);
    try {
      MessageManager inbox = inbox(mailboxes, session);
      String returnPath = "%s: <%s>\r\n".formatted(RETURN_PATH, sender);
      if (digest.isEmpty()) {
        append(inbox, returnPath, message, session);
        return;
      }
      String id = id(recipient, sender, digest.get());
      Optional<DeliveryLedger.Entry> known = ledger.find(id);
      if (known.isPresent() && isThere(known.get(), inbox, id, session)) {
        ledger.done(id, known.get());
        return;
      }
      Instant now = clock.instant();
      long nextUid = nextUid(inbox, session);
      ledger.start(id, now, nextUid);
      append(inbox, "%s%s: %s\r\n".formatted(returnPath, HEADER, id), message, session);
      ledger.done(id, new DeliveryLedger.Entry(now, nextUid, true));
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

  private boolean isThere(
      DeliveryLedger.Entry known, MessageManager inbox, String id, MailboxSession session)
      throws MailboxException, DeliveryFailedException {
    if (known.isDone() || isInInbox(known, inbox, id, session)) {
      return true;
    }
    if (clock.instant().isBefore(known.started().plus(MAX_DELIVERY))) {
      throw new DeliveryFailedException(
          "The same message is being delivered, since %s".formatted(known.started()));
    }
    return false;
  }

  private static boolean isInInbox(
      DeliveryLedger.Entry known, MessageManager inbox, String id, MailboxSession session)
      throws MailboxException {
    Iterator<MessageResult> since =
        inbox.getMessages(
            MessageRange.from(MessageUid.of(known.nextUid())), FetchGroup.HEADERS, session);
    for (int i = 0; i < MAX_SEARCHED && since.hasNext(); i++) {
      if (isMarked(since.next().getHeaders().headers(), id)) {
        return true;
      }
    }
    return false;
  }

  /** Only the mark that this server has put there counts: the sender may have written others. */
  private static boolean isMarked(Iterator<Header> headers, String id) throws MailboxException {
    return headers.hasNext()
        && headers.next().getName().equalsIgnoreCase(RETURN_PATH)
        && headers.hasNext()
        && isMark(headers.next(), id);
  }

  private static boolean isMark(Header header, String id) throws MailboxException {
    return header.getName().equalsIgnoreCase(HEADER) && header.getValue().strip().equals(id);
  }

  private static long nextUid(MessageManager inbox, MailboxSession session)
      throws MailboxException {
    return inbox
        .getMetaData(RecentMode.IGNORE, session, EnumSet.of(MailboxMetaData.Item.NextUid))
        .getUidNext()
        .asLong();
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

  private static String id(String recipient, String sender, byte[] digest) {
    try {
      MessageDigest id = MessageDigest.getInstance("SHA-256");
      id.update(digest);
      id.update((recipient + "\0" + sender).getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(id.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Java has no SHA-256", e);
    }
  }
}
