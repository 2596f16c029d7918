// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.uuid.Uuids;
import io.isolde.junit.IsoldeTest;
import io.isolde.mail.store.FlagChange;
import io.isolde.mail.store.MailboxChanges;
import io.isolde.mail.store.MailboxWrites;
import io.isolde.mail.store.MessageFacts;
import io.isolde.mail.store.Name;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredFlags;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.Uids;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Two mail servers change the same mailbox. Each has a store of its own, as two processes have, so
 * locks of one know nothing of the other.
 */
@IsoldeTest
class RacingServersTest {
  static final StoredFlags NONE = new StoredFlags(0, Set.of());
  private static final int THREADS_OF_A_SERVER = 4;
  private static final int DELIVERIES_OF_A_THREAD = 15;

  private static final AtomicInteger users = new AtomicInteger();

  enum Kind {
    TRANSACTIONAL {
      @Override
      MailboxStore open(CqlSession session) {
        return MailboxStore.transactional(session, "racing_transactional");
      }
    },
    STRONG {
      @Override
      MailboxStore open(CqlSession session) {
        return MailboxStore.strong(session, "racing_strong");
      }
    },
    SERIAL {
      @Override
      MailboxStore open(CqlSession session) {
        return MailboxStore.serial(session, "racing_serial");
      }
    },
    QUORUM {
      @Override
      MailboxStore open(CqlSession session) {
        return MailboxStore.quorum(session, "racing_quorum");
      }
    };

    abstract MailboxStore open(CqlSession session);

    String keyspace() {
      return "racing_" + name().toLowerCase(Locale.ROOT);
    }
  }

  /** Two servers, and a mailbox that is new. */
  static final class Servers {
    final MailboxStore one;
    final MailboxStore two;
    final NamedMailbox mailbox = newMailbox();

    Servers(Kind kind, CqlSession session) {
      one = kind.open(session);
      two = kind.open(session);
      assertThat(one.writes().create(mailbox)).isTrue();
    }

    static NamedMailbox newMailbox() {
      return new NamedMailbox(
          new Name("user" + users.incrementAndGet(), "#private", "INBOX"),
          UUID.randomUUID(),
          42,
          Map.of());
    }

    List<StoredMessage> messages() {
      List<StoredMessage> messages = new ArrayList<>();
      one.reads().messages(mailbox.id(), (Uids.Range) Uids.ALL).forEachRemaining(messages::add);
      return messages;
    }

    Numbers numbers() {
      return one.reads().numbers(mailbox.id()).orElseThrow();
    }
  }

  static MessageFacts facts() {
    UUID id = Uuids.timeBased();
    return new MessageFacts(id, id, now(), 10, 5);
  }

  static Instant now() {
    return Instant.now().truncatedTo(ChronoUnit.MILLIS);
  }

  private static StoredMessage deliver(MailboxStore server, UUID mailbox) {
    return server.writes().deliver(mailbox, facts(), NONE, now());
  }

  /** Runs something when a server has read a mailbox and not yet written it: once. */
  static class Between {
    boolean isDone;
    private final Runnable action;

    Between(Runnable action) {
      this.action = action;
    }

    void run() {
      if (!isDone) {
        isDone = true;
        action.run();
      }
    }
  }

  private static List<UUID> idsOf(List<StoredMessage> messages) {
    return messages.stream().map(message -> message.facts().messageId()).toList();
  }

  /** Server two delivers between the read and the write of a delivery by server one. */
  private static List<StoredMessage> deliverBetween(Servers servers) {
    List<StoredMessage> delivered = new ArrayList<>();
    Between between = new Between(() -> delivered.add(deliver(servers.two, servers.mailbox.id())));
    delivered.add(
        servers
            .one
            .writes()
            .change(
                servers.mailbox.id(),
                Uids.NONE,
                view -> {
                  between.run();
                  return MailboxChanges.deliver(view, facts(), NONE, now());
                }));
    return delivered;
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "QUORUM")
  void whenAnotherServerDeliversBetweenReadAndWriteThenBothMessagesStay(
      Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);

    List<StoredMessage> delivered = deliverBetween(servers);

    assertThat(servers.messages()).containsExactlyElementsOf(delivered);
    assertThat(delivered).extracting(StoredMessage::uid).containsExactly(1L, 2L);
    assertThat(servers.numbers()).isEqualTo(new Numbers(3, 2, 2, 2, Set.of()));
    for (StoredMessage message : delivered) {
      assertThat(servers.one.reads().places(message.facts().messageId())).hasSize(1);
    }
  }

  @ParameterizedTest
  @EnumSource(names = "QUORUM")
  void whenServersReadAndThenWriteThenOneMessageTakesThePlaceOfTheOther(
      Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);

    List<StoredMessage> delivered = deliverBetween(servers);

    assertThat(delivered).extracting(StoredMessage::uid).containsExactly(1L, 1L);
    assertThat(delivered).extracting(StoredMessage::modSeq).containsExactly(1L, 1L);
    assertThat(idsOf(servers.messages())).containsExactly(delivered.get(1).facts().messageId());
    assertThat(servers.numbers().messages()).isEqualTo(1);
  }

  /** Server two gives a flag between the read and the write of another flag by server one. */
  private static StoredFlags flagBetween(Servers servers) {
    UUID mailbox = servers.mailbox.id();
    long uid = deliver(servers.one, mailbox).uid();
    Between between =
        new Between(() -> flag(servers.two.writes(), mailbox, uid, StoredFlags.FLAGGED));
    List<FlagChange> unused =
        servers
            .one
            .writes()
            .change(
                mailbox,
                new Uids.Range(uid, uid),
                view -> {
                  between.run();
                  return MailboxChanges.flag(view, flags -> with(flags, StoredFlags.SEEN));
                });
    return servers.messages().get(0).flags();
  }

  private static void flag(MailboxWrites writes, UUID mailbox, long uid, int bit) {
    List<FlagChange> unused =
        writes.change(
            mailbox,
            new Uids.Range(uid, uid),
            view -> MailboxChanges.flag(view, flags -> with(flags, bit)));
  }

  private static StoredFlags with(StoredFlags flags, int bit) {
    return new StoredFlags(flags.system() | bit, flags.keywords());
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "QUORUM")
  void whenTwoServersGiveFlagsAtTheSameTimeThenTheMessageHasBoth(Kind kind, CqlSession session) {
    assertThat(flagBetween(new Servers(kind, session)).has(StoredFlags.SEEN | StoredFlags.FLAGGED))
        .isTrue();
  }

  @ParameterizedTest
  @EnumSource(names = "QUORUM")
  void whenServersReadAndThenWriteThenAFlagIsLost(Kind kind, CqlSession session) {
    assertThat(flagBetween(new Servers(kind, session)).system()).isEqualTo(StoredFlags.SEEN);
  }

  /** Server two removes a message that server one removes, too. */
  private static Numbers expungeBetween(Servers servers) {
    UUID mailbox = servers.mailbox.id();
    deliver(servers.one, mailbox);
    deliver(servers.one, mailbox);
    Uids first = new Uids.Those(List.of(1L));
    Between between =
        new Between(
            () -> {
              List<StoredMessage> unused =
                  servers.two.writes().change(mailbox, first, MailboxChanges::expunge);
              deliver(servers.two, mailbox);
            });
    List<StoredMessage> unused =
        servers
            .one
            .writes()
            .change(
                mailbox,
                first,
                view -> {
                  between.run();
                  return MailboxChanges.expunge(view);
                });
    return servers.numbers();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "QUORUM")
  void whenTwoServersRemoveAMessageThenItCountsOnce(Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);
    assertThat(expungeBetween(servers).messages()).isEqualTo(servers.messages().size());
  }

  @ParameterizedTest
  @EnumSource(names = "QUORUM")
  void whenServersReadAndThenWriteThenCountsAreWrongForGood(Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);
    Numbers numbers = expungeBetween(servers);
    assertThat(servers.messages()).hasSize(2);
    assertThat(numbers.messages()).isEqualTo(1);
    // The UID of a message that is there is given again.
    assertThat(numbers.nextUid()).isEqualTo(servers.messages().get(1).uid());
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "QUORUM")
  void whenServersDeliverAndFlagAtTheSameTimeThenUidsAreDenseAndCountsExact(
      Kind kind, CqlSession session) throws Exception {
    Servers servers = new Servers(kind, session);
    UUID mailbox = servers.mailbox.id();
    List<Callable<List<StoredMessage>>> jobs = new ArrayList<>();
    for (MailboxStore server : List.of(servers.one, servers.two)) {
      for (int thread = 0; thread < THREADS_OF_A_SERVER; thread++) {
        jobs.add(
            () -> {
              List<StoredMessage> delivered = new ArrayList<>();
              for (int i = 0; i < DELIVERIES_OF_A_THREAD; i++) {
                StoredMessage message = deliver(server, mailbox);
                delivered.add(message);
                if (i % 3 == 0) {
                  flag(server.writes(), mailbox, message.uid(), StoredFlags.SEEN);
                }
              }
              return delivered;
            });
      }
    }

    List<StoredMessage> answered = new ArrayList<>();
    for (List<StoredMessage> ofThread : inParallel(jobs)) {
      assertThat(ofThread).isSortedAccordingTo((a, b) -> Long.compare(a.uid(), b.uid()));
      answered.addAll(ofThread);
    }

    int count = jobs.size() * DELIVERIES_OF_A_THREAD;
    int flagged = jobs.size() * DELIVERIES_OF_A_THREAD / 3;
    List<StoredMessage> messages = servers.messages();
    assertThat(messages)
        .extracting(StoredMessage::uid)
        .containsExactlyElementsOf(LongStream.rangeClosed(1, count).boxed().toList());
    assertThat(idsOf(messages)).containsExactlyInAnyOrderElementsOf(idsOf(answered));
    assertThat(answered)
        .allSatisfy(
            message ->
                assertThat(messages.get((int) message.uid() - 1).facts())
                    .isEqualTo(message.facts()));
    assertThat(new HashSet<>(messages.stream().map(StoredMessage::modSeq).toList())).hasSize(count);
    assertThat(servers.numbers())
        .isEqualTo(new Numbers(count + 1, count + flagged, count, count - flagged, Set.of()));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "QUORUM")
  void whenServersCreateMailboxesOfOneNameThenOneOfThemDoes(Kind kind, CqlSession session)
      throws Exception {
    Servers servers = new Servers(kind, session);
    for (int round = 0; round < 10; round++) {
      NamedMailbox first = Servers.newMailbox();
      NamedMailbox second =
          new NamedMailbox(first.name(), UUID.randomUUID(), first.uidValidity(), Map.of());
      List<Boolean> created =
          inParallel(
              List.of(
                  () -> servers.one.writes().create(first),
                  () -> servers.two.writes().create(second)));
      assertThat(created).containsExactlyInAnyOrder(true, false);
      NamedMailbox winner = created.get(0) ? first : second;
      NamedMailbox loser = created.get(0) ? second : first;
      assertThat(servers.one.reads().named(first.name())).contains(winner);
      assertThat(servers.one.reads().mailbox(winner.id())).contains(winner);
      assertThat(servers.one.reads().mailbox(loser.id())).isEmpty();
    }
  }

  private static <T> List<T> inParallel(List<Callable<T>> jobs) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(jobs.size());
    try {
      List<T> results = new ArrayList<>();
      for (Future<T> future : threads.invokeAll(jobs, 2, TimeUnit.MINUTES)) {
        results.add(future.get());
      }
      return results;
    } finally {
      threads.shutdownNow();
    }
  }
}
