// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import static io.isolde.mail.store.cql.RacingServersTest.NONE;
import static io.isolde.mail.store.cql.RacingServersTest.facts;
import static io.isolde.mail.store.cql.RacingServersTest.now;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import io.isolde.junit.IsoldeTest;
import io.isolde.mail.store.MailboxChanges;
import io.isolde.mail.store.MailboxWrites;
import io.isolde.mail.store.MessageFacts;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.Uids;
import io.isolde.mail.store.cql.RacingServersTest.Between;
import io.isolde.mail.store.cql.RacingServersTest.Kind;
import io.isolde.mail.store.cql.RacingServersTest.Servers;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One server copies a message while another one removes it: no copy is without its content. */
@IsoldeTest
class RacingCopiesTest {

  /** Writes of a third server, which stops before it lists a message whose place it has written. */
  private static MailboxWrites stopping(Kind kind, CqlSession session, Between between) {
    Levels levels = kind == Kind.SERIAL ? Levels.SERIAL_NUMBERS : Levels.QUORUM;
    MailTables tables = new MailTables(session, kind.keyspace());
    MailRequests requests = new MailRequests(session, levels);
    MailboxReads reads = new MailboxReads(tables, requests);
    return kind == Kind.QUORUM
        ? new ReadThenWrite(tables, reads, requests) {
          @Override
          boolean write(
              UUID mailbox, Numbers before, Numbers after, List<BoundStatement> statements) {
            between.run();
            return super.write(mailbox, before, after, statements);
          }
        }
        : new CheckedWrites(tables, reads, requests) {
          @Override
          boolean write(
              UUID mailbox, Numbers before, Numbers after, List<BoundStatement> statements) {
            between.run();
            return super.write(mailbox, before, after, statements);
          }
        };
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "TRANSACTIONAL")
  void whenTheOriginalIsRemovedWhileItsCopyIsAboutToBeListedThenTheCopyHasItsContent(
      Kind kind, CqlSession session) throws Exception {
    Servers servers = new Servers(kind, session);
    UUID from = servers.mailbox.id();
    NamedMailbox to = Servers.newMailbox();
    assertThat(servers.one.writes().create(to)).isTrue();
    StoredMessage original = deliverWithContent(servers.one, from);
    UUID messageId = original.facts().messageId();
    Between between =
        new Between(
            () -> {
              expunge(servers.two, from, original);
              assertThat(servers.two.reads().places(messageId)).as("listed nowhere").isEmpty();
            });

    StoredMessage copy =
        stopping(kind, session, between).copy(from, original.uid(), to.id(), NONE, now());

    assertThat(between.isDone).isTrue();
    assertThat(servers.one.reads().places(messageId)).hasSize(1);
    assertThat(body(servers.one, copy)).isEqualTo("body");
    expunge(servers.two, to.id(), copy);
    assertThat(MailRequests.await(servers.one.contents().header(messageId))).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void whenAPlaceIsThereAndItsMessageNotYetThenTheContentStays(Kind kind, CqlSession session)
      throws Exception {
    Servers servers = new Servers(kind, session);
    StoredMessage original = deliverWithContent(servers.one, servers.mailbox.id());
    MailTables tables = new MailTables(session, kind.keyspace());
    UUID elsewhere = UUID.randomUUID();
    new MailRequests(session, Levels.QUORUM).write(List.of(tables.place(elsewhere, original)));

    expunge(servers.two, servers.mailbox.id(), original);

    assertThat(body(servers.one, original)).isEqualTo("body");
    new MailRequests(session, Levels.QUORUM).write(List.of(tables.unplace(elsewhere, original)));
    UUID messageId = original.facts().messageId();
    servers.two.contents().removeUnplaced(List.of(messageId));
    assertThat(MailRequests.await(servers.one.contents().header(messageId))).isEmpty();
  }

  private static StoredMessage deliverWithContent(MailboxStore server, UUID mailbox)
      throws IOException {
    MessageFacts facts = facts();
    String header = "h: x\n";
    server
        .contents()
        .store(
            facts.messageId(),
            new Contents.Header(
                header.getBytes(StandardCharsets.US_ASCII), OptionalLong.empty(), List.of()),
            new ByteArrayInputStream("body".getBytes(StandardCharsets.US_ASCII)));
    MessageFacts sized =
        new MessageFacts(facts.messageId(), facts.threadId(), facts.received(), 9, 5);
    return server.writes().deliver(mailbox, sized, NONE, now());
  }

  private static String body(MailboxStore server, StoredMessage message) throws IOException {
    return new String(
        server.contents().body(message.facts()).readAllBytes(), StandardCharsets.US_ASCII);
  }

  /** As a server does it for a client. */
  private static void expunge(MailboxStore server, UUID mailbox, StoredMessage message) {
    List<StoredMessage> removed =
        server
            .writes()
            .change(mailbox, new Uids.Those(List.of(message.uid())), MailboxChanges::expunge);
    server.contents().removeUnplaced(removed.stream().map(one -> one.facts().messageId()).toList());
  }
}
