// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.delivery;

import java.io.ByteArrayOutputStream;
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
import org.apache.james.mailbox.model.ByteContent;
import org.apache.james.mailbox.model.FetchGroup;
import org.apache.james.mailbox.model.Header;
import org.apache.james.mailbox.model.MailboxPath;
import org.apache.james.mailbox.model.MessageRange;
import org.apache.james.mailbox.model.MessageResult;

/**
 * Puts messages into inboxes. A message that comes again is recognised by its content, sender and
 * recipient: who sends on a message after a failure sends the same bytes, with the same Message-ID.
 *
 * <p>Before a message goes into an inbox, the ledger gets an entry. If nothing fails, the entry is
 * done afterwards. If the entry is there and not done, the message is looked for in the inbox.
 */
public final class InboxDelivery {

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
   * @param message with CR LF at the end of each line
   * @param digest of what the sender has sent, without what each server adds
   * @throws DeliveryFailedException if it may be there or not; another try does no harm
   */
  public void deliver(String recipient, String sender, byte[] message, byte[] digest)
      throws DeliveryFailedException {
    String id = id(recipient, sender, digest);
    MailboxSession session = mailboxes.createSystemSession(Username.of(recipient));
    mailboxes.startProcessingRequest(session);
    try {
      MessageManager inbox = inbox(mailboxes, session);
      Optional<DeliveryLedger.Entry> known = ledger.find(id);
      if (known.isPresent() && isThere(known.get(), inbox, id, session)) {
        ledger.done(id, known.get());
        return;
      }
      Instant now = clock.instant();
      long nextUid = nextUid(inbox, session);
      ledger.start(id, now, nextUid);
      inbox.appendMessage(
          AppendCommand.builder()
              .recent()
              .delivery()
              .build(new ByteContent(withHeaders(message, sender, id))),
          session);
      ledger.done(id, new DeliveryLedger.Entry(now, nextUid, true));
    } catch (MailboxException | RuntimeException e) {
      throw new DeliveryFailedException(
          "The message for %s may be in the inbox or not".formatted(recipient), e);
    } finally {
      mailboxes.endProcessingRequest(session);
    }
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
      Iterator<Header> headers = since.next().getHeaders().headers();
      while (headers.hasNext()) {
        Header header = headers.next();
        if (header.getName().equalsIgnoreCase(HEADER) && header.getValue().strip().equals(id)) {
          return true;
        }
      }
    }
    return false;
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

  private static byte[] withHeaders(byte[] message, String sender, String id) {
    byte[] headers =
        "Return-Path: <%s>\r\n%s: %s\r\n"
            .formatted(sender, HEADER, id)
            .getBytes(StandardCharsets.US_ASCII);
    ByteArrayOutputStream out = new ByteArrayOutputStream(headers.length + message.length);
    out.writeBytes(headers);
    out.writeBytes(message);
    return out.toByteArray();
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
