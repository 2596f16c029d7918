// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import static io.isolde.mail.store.cql.RacingServersTest.NONE;
import static io.isolde.mail.store.cql.RacingServersTest.facts;
import static io.isolde.mail.store.cql.RacingServersTest.now;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import io.isolde.junit.IsoldeTest;
import io.isolde.mail.store.MessageFacts;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.cql.RacingServersTest.Between;
import io.isolde.mail.store.cql.RacingServersTest.Kind;
import io.isolde.mail.store.cql.RacingServersTest.Servers;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of content that no mailbox lists. */
@IsoldeTest
class ContentSweepTest {
  /** All content counts as old. */
  private static Instant later() {
    return Instant.now().plus(Duration.ofHours(1));
  }

  private static MessageFacts store(MailboxStore server) throws IOException {
    MessageFacts facts = facts();
    server
        .contents()
        .store(
            facts.messageId(),
            new Contents.Header(
                "h: x\n".getBytes(StandardCharsets.US_ASCII), OptionalLong.empty(), List.of()),
            new ByteArrayInputStream("12345".getBytes(StandardCharsets.US_ASCII)));
    return facts;
  }

  private static boolean isStored(Kind kind, CqlSession session, MessageFacts message) {
    boolean hasHeader = has(kind, session, "headers", message);
    assertThat(has(kind, session, "bodies", message)).isEqualTo(hasHeader);
    return hasHeader;
  }

  private static boolean has(Kind kind, CqlSession session, String table, MessageFacts message) {
    return session
            .execute(
                "SELECT message_id FROM %s.%s WHERE message_id = ?"
                    .formatted(kind.keyspace(), table),
                message.messageId())
            .one()
        != null;
  }

  private static void place(Kind kind, CqlSession session, UUID mailbox, MessageFacts message) {
    session.execute(
        "INSERT INTO %s.places (message_id, mailbox_id, uid) VALUES (?, ?, 7)"
            .formatted(kind.keyspace()),
        message.messageId(),
        mailbox);
  }

  @ParameterizedTest
  @EnumSource
  void whenNoMailboxListsContentThenItGoesAndAllOtherStays(Kind kind, CqlSession session)
      throws Exception {
    Servers servers = new Servers(kind, session);
    UUID mailbox = servers.mailbox.id();
    MessageFacts listed = store(servers.one);
    StoredMessage message = servers.one.writes().deliver(mailbox, listed, NONE, now());
    MessageFacts unlisted = store(servers.one);
    MessageFacts neverPlaced = store(servers.one);
    place(kind, session, mailbox, unlisted);
    MessageFacts listedBetween = store(servers.one);
    MessageFacts placedBetween = store(servers.one);
    MessageFacts withoutHeader = store(servers.one);
    session.execute(
        "DELETE FROM %s.headers WHERE message_id = ?".formatted(kind.keyspace()),
        withoutHeader.messageId());

    ContentSweep sweep = servers.two.sweep();
    ContentSweep.Found found = sweep.find(later());
    StoredMessage between = servers.one.writes().deliver(mailbox, listedBetween, NONE, now());
    place(kind, session, mailbox, placedBetween);

    assertThat(sweep.remove(found)).isGreaterThanOrEqualTo(3);
    assertThat(isStored(kind, session, unlisted)).isFalse();
    assertThat(servers.one.reads().isPlaced(unlisted.messageId())).isFalse();
    assertThat(isStored(kind, session, neverPlaced)).isFalse();
    assertThat(isStored(kind, session, withoutHeader)).isFalse();
    assertThat(isStored(kind, session, listed)).isTrue();
    assertThat(isStored(kind, session, listedBetween)).isTrue();
    assertThat(isStored(kind, session, placedBetween)).as("about to be listed").isTrue();
    assertThat(servers.messages()).containsExactly(message, between);
  }

  @ParameterizedTest
  @EnumSource
  void whenContentIsYoungThenItMayBeAboutToBeListedAndStays(Kind kind, CqlSession session)
      throws Exception {
    Servers servers = new Servers(kind, session);
    MessageFacts young = store(servers.one);
    ContentSweep sweep = servers.one.sweep();
    int unused = sweep.remove(sweep.find(Instant.now().minus(ContentSweep.MIN_AGE)));
    assertThat(isStored(kind, session, young)).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void whenOneServerSweepsThenNoOtherOneDoes(Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);
    session.execute(
        "DELETE FROM %s.settings WHERE name = 'sweep' IF EXISTS".formatted(kind.keyspace()));
    assertThat(servers.one.sweep().claim()).isTrue();
    assertThat(servers.two.sweep().claim()).isFalse();
    assertThat(secondsToTheNext(kind, session)).as("if it dies").isLessThan(90_000);
    servers.one.sweep().finish();
    assertThat(servers.two.sweep().claim()).isFalse();
    assertThat(secondsToTheNext(kind, session)).isGreaterThan(500_000);
  }

  private static int secondsToTheNext(Kind kind, CqlSession session) {
    return session
        .execute(
            "SELECT TTL(value) FROM %s.settings WHERE name = 'sweep'".formatted(kind.keyspace()))
        .one()
        .getInt(0);
  }

  /** That finishes a lightweight transaction which has died half way. */
  @ParameterizedTest
  @EnumSource
  void whenAMessageSeemsUnlistedThenTheNumbersOfItsMailboxAreReadFirst(
      Kind kind, CqlSession session) throws Exception {
    Servers servers = new Servers(kind, session);
    MessageFacts facts = store(servers.one);
    place(kind, session, servers.mailbox.id(), facts);
    List<StoredMessage> listed = new ArrayList<>();
    // Whatever that read brings to its end: here the delivery itself.
    Between between =
        new Between(
            () ->
                listed.add(servers.one.writes().deliver(servers.mailbox.id(), facts, NONE, now())));
    ContentSweep sweep = kind.open(SeenWholeTest.pausing(session, "uid IN ?", between)).sweep();

    int unused = sweep.remove(sweep.find(later()));

    assertThat(servers.messages()).containsExactlyElementsOf(listed).hasSize(1);
    assertThat(isStored(kind, session, facts)).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void whenARequestFailsThenTheOtherMessagesAreSweptAllTheSame(Kind kind, CqlSession session)
      throws Exception {
    Servers servers = new Servers(kind, session);
    List<MessageFacts> unlisted = List.of(store(servers.one), store(servers.one));
    Between failing =
        new Between(
            () -> {
              throw new DriverTimeoutException("a node died");
            });
    ContentSweep sweep =
        kind.open(SeenWholeTest.pausing(session, "places WHERE message_id", failing)).sweep();

    int unused = sweep.remove(sweep.find(later()));

    assertThat(failing.isDone).isTrue();
    assertThat(unlisted).anyMatch(message -> !isStored(kind, session, message));
  }
}
