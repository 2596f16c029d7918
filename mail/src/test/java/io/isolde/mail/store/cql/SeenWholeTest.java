// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import static io.isolde.mail.store.cql.RacingServersTest.NONE;
import static io.isolde.mail.store.cql.RacingServersTest.facts;
import static io.isolde.mail.store.cql.RacingServersTest.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import io.isolde.junit.IsoldeTest;
import io.isolde.mail.store.MailboxChanges;
import io.isolde.mail.store.Name;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.StoredFlags;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.Uids;
import io.isolde.mail.store.cql.RacingServersTest.Between;
import io.isolde.mail.store.cql.RacingServersTest.Kind;
import io.isolde.mail.store.cql.RacingServersTest.Servers;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What one server sees of the changes that another one makes in more than one place. */
@IsoldeTest
class SeenWholeTest {
  private static final int ROUNDS = 20;

  /** A session that does something before it sends a statement that has these words: once. */
  static CqlSession pausing(CqlSession session, String words, Between between) {
    return (CqlSession)
        Proxy.newProxyInstance(
            CqlSession.class.getClassLoader(),
            new Class<?>[] {CqlSession.class},
            (proxy, method, arguments) -> {
              if (method.getName().startsWith("execute")
                  && arguments[0] instanceof BoundStatement statement
                  && statement.getPreparedStatement().getQuery().contains(words)) {
                between.run();
              }
              try {
                return method.invoke(session, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  /** Server one is about to send a statement with these words when the action runs. */
  private static MailboxStore pausing(
      Kind kind, CqlSession session, String words, Runnable action) {
    return kind.open(pausing(session, words, new Between(action)));
  }

  /** Makes a change again and again; meanwhile what somebody sees has always one element. */
  private static <T> void assertAlwaysOne(Supplier<List<T>> seen, Runnable change)
      throws Exception {
    AtomicBoolean isDone = new AtomicBoolean();
    ExecutorService reader = Executors.newSingleThreadExecutor();
    try {
      Future<Integer> looks =
          reader.submit(
              () -> {
                int count = 0;
                do {
                  assertThat(seen.get()).hasSize(1);
                  count++;
                } while (!isDone.get());
                return count;
              });
      for (int i = 0; i < ROUNDS; i++) {
        change.run();
      }
      isDone.set(true);
      assertThat(looks.get(1, TimeUnit.MINUTES)).isPositive();
    } finally {
      reader.shutdownNow();
    }
  }

  private static List<NamedMailbox> owned(MailboxStore server, NamedMailbox... any) {
    List<NamedMailbox> owned = new ArrayList<>();
    for (NamedMailbox each : any) {
      server
          .reads()
          .named(each.name())
          .filter(found -> found.id().equals(each.id()))
          .ifPresent(owned::add);
    }
    return owned;
  }

  private static NamedMailbox ofTheSameUser(NamedMailbox mailbox) {
    return mailbox.called(new Name(mailbox.name().user(), mailbox.name().namespace(), "Archive"));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "QUORUM")
  void whenAMailboxOfAUserIsRenamedThenItAlwaysHasOneName(Kind kind, CqlSession session)
      throws Exception {
    Servers servers = new Servers(kind, session);
    NamedMailbox[] names = {servers.mailbox, ofTheSameUser(servers.mailbox)};
    int[] last = {0};
    assertAlwaysOne(
        () -> servers.two.reads().ownedBy(names[0].name().user()).toList(),
        () -> {
          assertThat(servers.one.writes().rename(names[last[0]], names[1 - last[0]])).isTrue();
          last[0] = 1 - last[0];
        });
  }

  @Test
  void whenAMailboxGoesToAnotherUserThenTransactionsSeeItOnce(CqlSession session) throws Exception {
    Servers servers = new Servers(Kind.TRANSACTIONAL, session);
    NamedMailbox[] names = {servers.mailbox, servers.mailbox.called(Servers.newMailbox().name())};
    int[] last = {0};
    MailTables tables = new MailTables(session, Kind.TRANSACTIONAL.keyspace());
    Isolde isolde = Isolde.on(session);
    assertAlwaysOne(
        () ->
            isolde.run(tx -> rows(tx, tables.name(names[0].name()), tables.name(names[1].name()))),
        () -> {
          assertThat(servers.one.writes().rename(names[last[0]], names[1 - last[0]])).isTrue();
          last[0] = 1 - last[0];
        });
  }

  private static List<Object> rows(Transaction tx, BoundStatement... statements) {
    List<Object> rows = new ArrayList<>();
    for (BoundStatement statement : statements) {
      tx.execute(statement).forEach(rows::add);
    }
    return rows;
  }

  /** Which of both names server two finds before server one has removed the old one. */
  private static List<NamedMailbox> seenAmidRename(
      Kind kind, CqlSession session, Servers servers, NamedMailbox to) {
    List<NamedMailbox> seen = new ArrayList<>();
    MailboxStore one =
        pausing(
            kind,
            session,
            "DELETE FROM " + kind.keyspace() + ".names",
            () -> seen.addAll(owned(servers.two, servers.mailbox, to)));
    assertThat(one.writes().rename(servers.mailbox, to)).isTrue();
    return seen;
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "TRANSACTIONAL")
  void whenAMailboxGoesToAnotherUserThenItHasBothNamesForAMoment(Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);
    NamedMailbox to = servers.mailbox.called(Servers.newMailbox().name());
    assertThat(seenAmidRename(kind, session, servers, to)).hasSize(2);
    assertThat(owned(servers.two, servers.mailbox, to)).containsExactly(to);
  }

  @ParameterizedTest
  @EnumSource(names = "QUORUM")
  void whenServersReadAndThenWriteThenARenameIsNotWholeForOneUserEither(
      Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);
    NamedMailbox to = ofTheSameUser(servers.mailbox);
    assertThat(seenAmidRename(kind, session, servers, to)).hasSize(2);
  }

  @ParameterizedTest
  @EnumSource(names = "QUORUM")
  void whenServersReadAndThenWriteThenTwoMailboxesHaveOneName(Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);
    NamedMailbox first = Servers.newMailbox();
    NamedMailbox second = new NamedMailbox(first.name(), UUID.randomUUID(), 42, first.rights());
    MailboxStore one =
        pausing(
            kind,
            session,
            "INSERT INTO " + kind.keyspace() + ".names",
            () -> assertThat(servers.two.writes().create(second)).isTrue());

    assertThat(one.writes().create(first)).as("both hear that the name is theirs").isTrue();

    assertThat(servers.two.reads().named(first.name())).contains(first);
    assertThat(servers.two.reads().numbers(second.id())).as("the other one is there").isPresent();
  }

  /** In which of two mailboxes messages are. */
  private static List<StoredMessage> listed(MailboxStore server, UUID... mailboxes) {
    List<StoredMessage> listed = new ArrayList<>();
    for (UUID mailbox : mailboxes) {
      server.reads().messages(mailbox, (Uids.Range) Uids.ALL).forEachRemaining(listed::add);
    }
    return listed;
  }

  @Test
  void whenAMessageMovesThenTransactionsSeeItInOneMailbox(CqlSession session) throws Exception {
    Kind kind = Kind.TRANSACTIONAL;
    Servers servers = new Servers(kind, session);
    NamedMailbox other = Servers.newMailbox();
    assertThat(servers.one.writes().create(other)).isTrue();
    UUID[] mailboxes = {servers.mailbox.id(), other.id()};
    StoredMessage[] last = {servers.one.writes().deliver(mailboxes[0], facts(), NONE, now())};
    int[] in = {0};
    MailTables tables = new MailTables(session, kind.keyspace());
    Isolde isolde = Isolde.on(session);
    assertAlwaysOne(
        () ->
            isolde.run(
                tx ->
                    rows(
                        tx,
                        tables.range(mailboxes[0], 1, Long.MAX_VALUE),
                        tables.range(mailboxes[1], 1, Long.MAX_VALUE))),
        () -> {
          last[0] =
              servers
                  .one
                  .writes()
                  .move(mailboxes[in[0]], last[0].uid(), mailboxes[1 - in[0]], NONE, now());
          in[0] = 1 - in[0];
        });
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "TRANSACTIONAL")
  void whenAServerDiesWhileItMovesAMessageThenBothMailboxesHaveIt(Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);
    NamedMailbox to = Servers.newMailbox();
    assertThat(servers.one.writes().create(to)).isTrue();
    UUID from = servers.mailbox.id();
    StoredMessage message = servers.one.writes().deliver(from, facts(), NONE, now());
    // After the copy the server reads the numbers of the first mailbox again, to remove it there.
    int[] reads = {0};
    MailboxStore dying =
        kind.open(
            pausing(
                session,
                "uid IN ?",
                new Between(() -> {}) {
                  @Override
                  void run() {
                    if (++reads[0] == 2) {
                      throw new IllegalStateException("dead");
                    }
                  }
                }));

    assertThat(catchThrowable(() -> dying.writes().move(from, message.uid(), to.id(), NONE, now())))
        .hasMessage("dead");

    assertThat(listed(servers.two, from, to.id()))
        .hasSize(2)
        .allSatisfy(each -> assertThat(each.facts()).isEqualTo(message.facts()));
  }

  private static void flagAll(MailboxStore server, UUID mailbox, int flags) {
    var unused =
        server
            .writes()
            .change(
                mailbox,
                Uids.ALL,
                view -> MailboxChanges.flag(view, before -> new StoredFlags(flags, Set.of())));
  }

  @Test
  void whenAListHasOnePageThenTransactionsShowItAsOfOneMoment(CqlSession session) throws Exception {
    Servers servers = new Servers(Kind.TRANSACTIONAL, session);
    for (int i = 0; i < 10; i++) {
      StoredMessage unused =
          servers.one.writes().deliver(servers.mailbox.id(), facts(), NONE, now());
    }
    int[] flags = {0};
    assertAlwaysOne(
        () ->
            listed(servers.two, servers.mailbox.id()).stream()
                .map(StoredMessage::flags)
                .distinct()
                .toList(),
        () -> flagAll(servers.one, servers.mailbox.id(), flags[0]++ % 2));
  }

  /** In every store, if the list has several pages: here pages are small. */
  @ParameterizedTest
  @EnumSource
  void whenAListHasSeveralPagesThenItIsNotAsOfOneMoment(Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);
    UUID mailbox = servers.mailbox.id();
    for (int i = 0; i < 4; i++) {
      StoredMessage unused = servers.one.writes().deliver(mailbox, facts(), NONE, now());
    }
    MailTables tables = new MailTables(session, kind.keyspace());
    Iterator<StoredMessage> pages =
        session
            .execute(
                tables
                    .range(mailbox, 1, Long.MAX_VALUE)
                    .setPageSize(2)
                    .setConsistencyLevel(DefaultConsistencyLevel.QUORUM))
            .map(row -> MailTables.message(row).orElseThrow())
            .iterator();
    List<StoredMessage> seen = new ArrayList<>(List.of(pages.next(), pages.next()));
    flagAll(servers.two, mailbox, StoredFlags.SEEN);
    pages.forEachRemaining(seen::add);
    assertThat(seen).extracting(message -> message.flags().system()).containsExactly(0, 0, 32, 32);
  }
}
