// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import io.isolde.bench.mail.SentMail.Found;
import io.isolde.cluster.ToolException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.james.core.Username;
import org.apache.james.mailbox.MailboxManager;
import org.apache.james.mailbox.MailboxSession;
import org.apache.james.mailbox.MessageManager;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.model.FetchGroup;
import org.apache.james.mailbox.model.Header;
import org.apache.james.mailbox.model.MailboxPath;
import org.apache.james.mailbox.model.MessageRange;
import org.apache.james.mailbox.model.MessageResult;

/** Reads inboxes over a session of its own, as a client of the mail server would see them. */
final class InboxReader {
  /** Of so many messages, one is compared byte by byte. */
  private static final int COMPARED = 50;

  private final MailboxManager mailboxes;
  private final Executor threads;

  InboxReader(MailboxManager mailboxes, Executor threads) {
    this.mailboxes = mailboxes;
    this.threads = threads;
  }

  /** Compares the inboxes of all users with what was sent to them. */
  SentMail.Verdict check(List<String> users, SentMail sent) {
    AtomicLong damaged = new AtomicLong();
    List<CompletableFuture<List<Found>>> reading =
        users.stream()
            .map(user -> CompletableFuture.supplyAsync(() -> read(user, sent, damaged), threads))
            .toList();
    List<Found> found = new ArrayList<>();
    reading.forEach(inbox -> found.addAll(inbox.join()));
    return sent.compare(found, damaged.get());
  }

  private List<Found> read(String user, SentMail sent, AtomicLong damaged) {
    MailboxSession session = mailboxes.createSystemSession(Username.of(user));
    mailboxes.startProcessingRequest(session);
    try {
      MessageManager inbox = mailboxes.getMailbox(MailboxPath.inbox(session), session);
      List<Found> found = new ArrayList<>();
      Iterator<MessageResult> messages =
          inbox.getMessages(MessageRange.all(), FetchGroup.HEADERS, session);
      while (messages.hasNext()) {
        MessageResult message = messages.next();
        String id = id(message);
        found.add(new Found(user, id));
        Letter letter = sent.letter(id);
        if (letter != null
            && letter.number() % COMPARED == 0
            && !hasBody(letter, inbox, message, session)) {
          damaged.incrementAndGet();
        }
      }
      return found;
    } catch (MailboxException | IOException e) {
      throw new ToolException("The inbox of %s can't be read: %s.".formatted(user, e), e);
    } finally {
      mailboxes.endProcessingRequest(session);
    }
  }

  private static String id(MessageResult message) throws MailboxException {
    Iterator<Header> headers = message.getHeaders().headers();
    while (headers.hasNext()) {
      Header header = headers.next();
      if (header.getName().equalsIgnoreCase("Message-ID")) {
        return header.getValue().strip().replaceAll("[<>]", "");
      }
    }
    return "";
  }

  private static boolean hasBody(
      Letter letter, MessageManager inbox, MessageResult message, MailboxSession session)
      throws MailboxException, IOException {
    Iterator<MessageResult> whole =
        inbox.getMessages(message.getUid().toRange(), FetchGroup.BODY_CONTENT, session);
    try (InputStream body = whole.next().getBody().getInputStream()) {
      return letter.hasBody(body);
    }
  }
}
