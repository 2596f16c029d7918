// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.junit.IsoldeTest;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.james.core.Username;
import org.apache.james.mailbox.MailboxManager;
import org.apache.james.mailbox.MailboxSession;
import org.apache.james.mailbox.MessageManager;
import org.apache.james.mailbox.exception.BadCredentialsException;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.model.ComposedMessageId;
import org.apache.james.mailbox.model.FetchGroup;
import org.apache.james.mailbox.model.MailboxPath;
import org.apache.james.mailbox.model.MessageRange;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What each store promises to its users. */
@IsoldeTest
class MailStoreContractTest {
  private static final AtomicInteger users = new AtomicInteger();

  /** A user with mailboxes INBOX and Archive. */
  private static final class Account {
    final MailboxManager manager;
    final MailboxSession session;
    final MailboxPath inbox;
    final MailboxPath archive;

    Account(MailStore store) throws MailboxException {
      manager = store.mailboxManager();
      Username user = Username.of("user" + users.incrementAndGet());
      session = manager.createSystemSession(user);
      inbox = MailboxPath.inbox(user);
      archive = MailboxPath.forUser(user, "Archive");
      assertThat(manager.createMailbox(inbox, session)).isPresent();
      assertThat(manager.createMailbox(archive, session)).isPresent();
    }

    MessageManager inbox() throws MailboxException {
      return manager.getMailbox(inbox, session);
    }

    MessageManager archive() throws MailboxException {
      return manager.getMailbox(archive, session);
    }

    ComposedMessageId append(byte[] message) throws MailboxException {
      return inbox()
          .appendMessage(MessageManager.AppendCommand.builder().build(message), session)
          .getId();
    }

    byte[] read(MessageManager mailbox) throws Exception {
      return mailbox
          .getMessages(MessageRange.all(), FetchGroup.FULL_CONTENT, session)
          .next()
          .getFullContent()
          .getInputStream()
          .readAllBytes();
    }
  }

  private static String keyspace(MailConsistency consistency) {
    return "store_" + consistency.name().toLowerCase(Locale.ROOT);
  }

  private static MailStore open(CqlSession session, MailConsistency consistency) {
    return MailStore.open(session, keyspace(consistency), consistency);
  }

  private static byte[] message(int bodyBytes) {
    byte[] header = "Subject: large\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
    byte[] message = new byte[header.length + bodyBytes];
    new Random(17).nextBytes(message);
    System.arraycopy(header, 0, message, 0, header.length);
    return message;
  }

  @ParameterizedTest
  @EnumSource
  void whenABodyHasSeveralChunksThenItComesBackAsItWas(
      MailConsistency consistency, CqlSession session) throws Exception {
    try (MailStore store = open(session, consistency)) {
      for (int bytes : List.of(0, 1, 256 << 10, (256 << 10) + 1, 3_000_000)) {
        Account account = new Account(store);
        byte[] message = message(bytes);
        account.append(message);
        assertThat(account.read(account.inbox())).isEqualTo(message);
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void whenTheLastOfTwoCopiesGoesThenItsContentGoes(MailConsistency consistency, CqlSession session)
      throws Exception {
    try (MailStore store = open(session, consistency)) {
      Account account = new Account(store);
      byte[] message = message(300_000);
      ComposedMessageId id = account.append(message);
      UUID uuid = UUID.fromString(id.getMessageId().serialize());
      account.manager.copyMessages(
          MessageRange.all(), account.inbox, account.archive, account.session);

      account.inbox().delete(List.of(id.getUid()), account.session);
      assertThat(account.read(account.archive())).isEqualTo(message);
      assertThat(chunks(session, consistency, uuid)).isEqualTo(2);

      account.manager.deleteMailbox(account.archive, account.session);
      assertThat(chunks(session, consistency, uuid)).isZero();
    }
  }

  private static long chunks(CqlSession session, MailConsistency consistency, UUID message) {
    return session
        .execute(
            "SELECT count(*) FROM %s.bodies WHERE message_id = ?".formatted(keyspace(consistency)),
            message)
        .one()
        .getLong(0);
  }

  @ParameterizedTest
  @EnumSource
  void whenAMessageMovesThenItIsInOneMailbox(MailConsistency consistency, CqlSession session)
      throws Exception {
    try (MailStore store = open(session, consistency)) {
      Account account = new Account(store);
      byte[] message = message(10);
      account.append(message);
      account.manager.moveMessages(
          MessageRange.all(), account.inbox, account.archive, account.session);
      assertThat(account.inbox().getMessageCount(account.session)).isZero();
      assertThat(account.read(account.archive())).isEqualTo(message);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whenTheContentOfAMessageIsLostThenTheOthersCanStillBeRead(
      MailConsistency consistency, CqlSession session) throws Exception {
    try (MailStore store = open(session, consistency)) {
      Account account = new Account(store);
      ComposedMessageId lost = account.append(message(5));
      byte[] other = message(7);
      account.append(other);
      session.execute(
          "DELETE FROM %s.headers WHERE message_id = ?".formatted(keyspace(consistency)),
          UUID.fromString(lost.getMessageId().serialize()));
      assertThat(account.read(account.inbox())).isEqualTo(other);
    }
  }

  @Test
  void whenAKeyspaceIsOfAnotherConsistencyThenItIsRefused(CqlSession session) {
    open(session, MailConsistency.SERIAL).close();
    assertThatThrownBy(
            () -> MailStore.open(session, keyspace(MailConsistency.SERIAL), MailConsistency.QUORUM))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("serial");
  }

  @Test
  void whenAKeyspaceIsNotStrongThenItIsNoStrongStore(CqlSession session) {
    session.execute(
        "CREATE KEYSPACE weak WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 1}");
    assertThatThrownBy(() -> MailStore.open(session, "weak", MailConsistency.STRONG))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("SimpleStrategy");
  }

  @Test
  void whenNobodyKnowsPasswordsThenNoneIsRight(CqlSession session) {
    try (MailStore store = open(session, MailConsistency.QUORUM)) {
      assertThatThrownBy(
              () ->
                  store
                      .mailboxManager()
                      .authenticate(Username.of("ada"), "secret")
                      .withoutDelegation())
          .isInstanceOf(BadCredentialsException.class);
    }
  }
}
