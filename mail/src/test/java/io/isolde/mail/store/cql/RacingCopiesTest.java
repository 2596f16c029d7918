// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import static io.isolde.mail.store.cql.RacingServersTest.NONE;
import static io.isolde.mail.store.cql.RacingServersTest.facts;
import static io.isolde.mail.store.cql.RacingServersTest.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import io.isolde.junit.IsoldeTest;
import io.isolde.mail.store.MailboxChanges;
import io.isolde.mail.store.MailboxWrites;
import io.isolde.mail.store.MessageFacts;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.NoMessageException;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.Uids;
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
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One server copies a message while another one removes it: no copy is without its content. */
@IsoldeTest
class RacingCopiesTest {

  /** Writes of a third server, which stops before it lists a message whose place it has written. */
  private static MailboxWrites stopping(Kind kind, CqlSession session, Between between) {
    return stopping(kind, session, between, any -> true);
  }

  /** As that, before it writes one of these mailboxes. */
  private static MailboxWrites stopping(
      Kind kind, CqlSession session, Between between, Predicate<UUID> where) {
    Levels levels = kind == Kind.SERIAL ? Levels.SERIAL_NUMBERS : Levels.QUORUM;
    MailTables tables = new MailTables(session, kind.keyspace());
    MailRequests requests = new MailRequests(session, levels);
    MailboxReads reads = new MailboxReads(tables, requests);
    return kind == Kind.QUORUM
        ? new ReadThenWrite(tables, reads, requests) {
          @Override
          boolean write(
              UUID mailbox, Numbers before, Numbers after, List<BoundStatement> statements) {
            if (where.test(mailbox)) {
              between.run();
            }
            return super.write(mailbox, before, after, statements);
          }
        }
        : new CheckedWrites(tables, reads, requests) {
          @Override
          boolean write(
              UUID mailbox, Numbers before, Numbers after, List<BoundStatement> statements) {
            if (where.test(mailbox)) {
              between.run();
            }
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

  /** Both have read the same next UID, so both have the same place for their copies. */
  @ParameterizedTest
  @EnumSource(names = {"STRONG", "SERIAL"})
  void whenTwoServersMoveAMessageToTheSameUidThenItKeepsItsPlaceAndItsContent(
      Kind kind, CqlSession session) throws Exception {
    Servers servers = new Servers(kind, session);
    UUID from = servers.mailbox.id();
    NamedMailbox to = Servers.newMailbox();
    assertThat(servers.one.writes().create(to)).isTrue();
    StoredMessage original = deliverWithContent(servers.one, from);
    List<StoredMessage> moved = new ArrayList<>();
    Between between =
        new Between(
            () -> {
              moved.add(servers.two.writes().copy(from, original.uid(), to.id(), NONE, now()));
              expunge(servers.two, from, original);
            });
    MailboxWrites slower = stopping(kind, session, between);

    assertThat(catchThrowable(() -> slower.copy(from, original.uid(), to.id(), NONE, now())))
        .isInstanceOf(NoMessageException.class);

    UUID messageId = original.facts().messageId();
    assertThat(servers.one.reads().places(messageId))
        .extracting(MailboxReads.Place::message)
        .containsExactlyElementsOf(moved);
    ContentSweep sweep = servers.one.sweep();
    int unused = sweep.remove(sweep.find(Instant.now().plus(Duration.ofHours(1))));
    assertThat(body(servers.one, moved.get(0))).isEqualTo("body");
    // The place that the slower server has left is the sweep's.
    expunge(servers.two, to.id(), moved.get(0));
    unused = sweep.remove(sweep.find(Instant.now().plus(Duration.ofHours(1))));
    assertThat(MailRequests.await(servers.one.contents().header(messageId))).isEmpty();
  }

  /** Server two moves it when server one has listed its copy, and not yet removed the original. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "TRANSACTIONAL")
  void whenAnotherServerMovesAMessageAmidAMoveThenItIsThereOnce(Kind kind, CqlSession session)
      throws Exception {
    Servers servers = new Servers(kind, session);
    UUID from = servers.mailbox.id();
    NamedMailbox to = Servers.newMailbox();
    assertThat(servers.one.writes().create(to)).isTrue();
    StoredMessage original = deliverWithContent(servers.one, from);
    List<StoredMessage> moved = new ArrayList<>();
    Between between =
        new Between(
            () -> moved.add(servers.two.writes().move(from, original.uid(), to.id(), NONE, now())));
    MailboxWrites slower = stopping(kind, session, between, from::equals);

    Throwable failure =
        catchThrowable(() -> slower.move(from, original.uid(), to.id(), NONE, now()));

    List<StoredMessage> listed =
        servers.one.reads().places(original.facts().messageId()).stream()
            .map(MailboxReads.Place::message)
            .toList();
    if (kind == Kind.QUORUM) {
      assertThat(failure).isNull();
      assertThat(listed).as("in this store it is there twice").hasSize(2);
    } else {
      assertThat(failure).isInstanceOf(NoMessageException.class);
      assertThat(listed).containsExactlyElementsOf(moved);
    }
    assertThat(body(servers.one, original)).isEqualTo("body");
  }

  /** Nobody else has a copy, so the move counts. */
  @ParameterizedTest
  @EnumSource(names = {"STRONG", "SERIAL"})
  void whenTheOriginalIsRemovedAmidAMoveThenTheCopyStays(Kind kind, CqlSession session)
      throws Exception {
    Servers servers = new Servers(kind, session);
    UUID from = servers.mailbox.id();
    NamedMailbox to = Servers.newMailbox();
    assertThat(servers.one.writes().create(to)).isTrue();
    StoredMessage original = deliverWithContent(servers.one, from);
    Between between = new Between(() -> expunge(servers.two, from, original));
    StoredMessage moved =
        stopping(kind, session, between, from::equals)
            .move(from, original.uid(), to.id(), NONE, now());
    assertThat(servers.one.reads().places(original.facts().messageId()))
        .extracting(MailboxReads.Place::message)
        .containsExactly(moved);
    assertThat(body(servers.one, moved)).isEqualTo("body");
  }

  @ParameterizedTest
  @EnumSource(names = "TRANSACTIONAL")
  void whenTwoServersMoveAMessageAtTheSameTimeThenItIsThereOnce(Kind kind, CqlSession session)
      throws Exception {
    Servers servers = new Servers(kind, session);
    UUID from = servers.mailbox.id();
    NamedMailbox to = Servers.newMailbox();
    assertThat(servers.one.writes().create(to)).isTrue();
    StoredMessage original = deliverWithContent(servers.one, from);
    UUID messageId = original.facts().messageId();
    int moved = 0;
    List<CompletableFuture<StoredMessage>> moves =
        Stream.of(servers.one, servers.two)
            .map(
                server ->
                    CompletableFuture.supplyAsync(
                        () -> server.writes().move(from, original.uid(), to.id(), NONE, now())))
            .toList();
    for (CompletableFuture<StoredMessage> move : moves) {
      Throwable failure = catchThrowable(move::join);
      assertThat(failure == null || failure.getCause() instanceof NoMessageException)
          .as("%s", failure)
          .isTrue();
      moved += failure == null ? 1 : 0;
    }
    assertThat(moved).isEqualTo(1);
    assertThat(servers.one.reads().places(messageId)).hasSize(1);
    assertThat(body(servers.one, original)).isEqualTo("body");
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
