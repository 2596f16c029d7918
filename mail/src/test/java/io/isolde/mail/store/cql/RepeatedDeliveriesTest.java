// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import static io.isolde.mail.store.cql.RacingServersTest.NONE;
import static io.isolde.mail.store.cql.RacingServersTest.facts;
import static io.isolde.mail.store.cql.RacingServersTest.now;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.junit.IsoldeTest;
import io.isolde.mail.store.DeliveredBeforeException;
import io.isolde.mail.store.DeliveryId;
import io.isolde.mail.store.MailboxChanges;
import io.isolde.mail.store.MessageFacts;
import io.isolde.mail.store.NoMailboxException;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.Uids;
import io.isolde.mail.store.cql.RacingServersTest.Between;
import io.isolde.mail.store.cql.RacingServersTest.Kind;
import io.isolde.mail.store.cql.RacingServersTest.Servers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A sender repeats a message, through one server or two. */
@IsoldeTest
class RepeatedDeliveriesTest {
  private static final DeliveryId ID = DeliveryId.of(new byte[] {1}, "sender", "recipient");

  private static StoredMessage deliver(MailboxStore server, UUID mailbox, MessageFacts facts) {
    return server.writes().deliverOnce(mailbox, ID, facts, NONE, now());
  }

  @ParameterizedTest
  @EnumSource
  void whenAMessageComesAgainThenNothingChanges(Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);
    UUID mailbox = servers.mailbox.id();
    MessageFacts facts = facts();
    StoredMessage first = deliver(servers.one, mailbox, facts);
    MessageFacts again = facts();

    assertThatThrownBy(() -> deliver(servers.two, mailbox, again))
        .isInstanceOf(DeliveredBeforeException.class);
    StoredMessage same = deliver(servers.two, mailbox, facts);

    assertThat(same.uid()).isEqualTo(first.uid());
    assertThat(same.modSeq()).isEqualTo(first.modSeq());
    assertThat(servers.messages()).containsExactly(first);
    assertThat(servers.numbers()).isEqualTo(new Numbers(2, 1, 1, 1, Set.of()));
    assertThat(servers.one.reads().isPlaced(again.messageId())).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void whenTheMessageHasBeenRemovedThenARepetitionDoesNotBringItBack(
      Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);
    UUID mailbox = servers.mailbox.id();
    StoredMessage first = deliver(servers.one, mailbox, facts());
    List<StoredMessage> removed =
        servers
            .one
            .writes()
            .change(mailbox, new Uids.Those(List.of(first.uid())), MailboxChanges::expunge);
    assertThat(removed).containsExactly(first);

    assertThatThrownBy(() -> deliver(servers.two, mailbox, facts()))
        .isInstanceOf(DeliveredBeforeException.class);
    assertThat(servers.messages()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void whenThereIsNoMailboxThenADeliveryFails(Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);
    assertThatThrownBy(() -> deliver(servers.one, UUID.randomUUID(), facts()))
        .isInstanceOf(NoMailboxException.class);
    MessageFacts before = facts();
    assertThat(deliver(servers.one, servers.mailbox.id(), before).uid()).isEqualTo(1);
    assertThat(servers.two.writes().delete(servers.mailbox)).isTrue();
    assertThatThrownBy(() -> deliver(servers.one, servers.mailbox.id(), facts()))
        .isInstanceOf(NoMailboxException.class);
  }

  /** What a server knows of a mailbox is often old, and sometimes right. */
  @ParameterizedTest
  @EnumSource
  void whenTwoServersTakeTurnsThenUidsFollowAndRepetitionsChangeNothing(
      Kind kind, CqlSession session) {
    long seed = Long.getLong("isolde.seed", System.nanoTime());
    Random random = new Random(seed);
    Servers servers = new Servers(kind, session);
    UUID mailbox = servers.mailbox.id();
    List<StoredMessage> delivered = new ArrayList<>();
    Set<StoredMessage> listed = new LinkedHashSet<>();
    long modSeq = 0;
    for (int i = 0; i < 40; i++) {
      MailboxStore server = random.nextInt(3) > 0 ? servers.one : servers.two;
      StoredMessage earlier =
          delivered.isEmpty() ? null : delivered.get(random.nextInt(delivered.size()));
      int action = earlier == null ? 0 : random.nextInt(4);
      if (action == 0) {
        MessageFacts facts = facts();
        StoredMessage message = server.writes().deliverOnce(mailbox, id(facts), facts, NONE, now());
        assertThat(message.uid()).as("seed %d", seed).isEqualTo(delivered.size() + 1);
        assertThat(message.modSeq()).as("seed %d", seed).isEqualTo(++modSeq);
        delivered.add(message);
        listed.add(message);
      } else if (action == 1) {
        StoredMessage same =
            server.writes().deliverOnce(mailbox, id(earlier.facts()), earlier.facts(), NONE, now());
        assertThat(same.uid()).as("seed %d", seed).isEqualTo(earlier.uid());
      } else if (action == 2) {
        MessageFacts other = facts();
        assertThatThrownBy(
                () -> server.writes().deliverOnce(mailbox, id(earlier.facts()), other, NONE, now()))
            .as("seed %d", seed)
            .isInstanceOf(DeliveredBeforeException.class);
        assertThat(server.reads().isPlaced(other.messageId())).isFalse();
      } else if (listed.remove(earlier)) {
        modSeq++;
        assertThat(
                server
                    .writes()
                    .change(
                        mailbox, new Uids.Those(List.of(earlier.uid())), MailboxChanges::expunge))
            .as("seed %d", seed)
            .containsExactly(earlier);
      }
    }
    assertThat(servers.messages()).as("seed %d", seed).containsExactlyElementsOf(listed);
    assertThat(servers.numbers())
        .as("seed %d", seed)
        .isEqualTo(
            new Numbers(delivered.size() + 1L, modSeq, listed.size(), listed.size(), Set.of()));
  }

  private static DeliveryId id(MessageFacts facts) {
    return DeliveryId.of(
        facts.messageId().toString().getBytes(StandardCharsets.UTF_8), "sender", "recipient");
  }

  /** More than one change takes; each message comes twice. */
  @ParameterizedTest
  @EnumSource
  void whenManyMessagesComeToOneMailboxAtOnceThenEachIsThereOnce(Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);
    UUID mailbox = servers.mailbox.id();
    int messages = JoinedDeliveries.MAX_JOINED + 10;
    ExecutorService threads = Executors.newFixedThreadPool(2 * messages);
    try {
      List<CompletableFuture<StoredMessage>> deliveries = new ArrayList<>();
      for (int i = 0; i < 2 * messages; i++) {
        byte[] content = {(byte) (i % messages)};
        deliveries.add(
            CompletableFuture.supplyAsync(
                () ->
                    servers
                        .one
                        .writes()
                        .deliverOnce(
                            mailbox, DeliveryId.of(content, "many", "come"), facts(), NONE, now()),
                threads));
      }
      List<StoredMessage> delivered = new ArrayList<>();
      for (CompletableFuture<StoredMessage> each : deliveries) {
        Throwable failure = catchThrowable(() -> delivered.add(each.join()));
        assertThat(failure == null || failure.getCause() instanceof DeliveredBeforeException)
            .as("%s", failure)
            .isTrue();
      }
      assertThat(delivered).hasSize(messages);
      assertThat(servers.messages()).containsExactlyInAnyOrderElementsOf(delivered);
      assertThat(servers.numbers())
          .isEqualTo(new Numbers(messages + 1L, messages, messages, messages, Set.of()));
    } finally {
      threads.shutdownNow();
    }
  }

  /** Server one delivers a message; between its read and its write server two does something. */
  private static Throwable deliverAround(Servers servers, Runnable action) {
    Between between = new Between(action);
    return catchThrowable(
        () -> {
          StoredMessage unused =
              servers
                  .one
                  .writes()
                  .change(
                      servers.mailbox.id(),
                      new Uids.Entries(List.of(ID)),
                      view -> {
                        between.run();
                        return MailboxChanges.deliverOnce(view, ID, facts(), NONE, now());
                      });
        });
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "QUORUM")
  void whenAMessageComesThroughTwoServersAtTheSameTimeThenItIsThereOnce(
      Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);
    List<StoredMessage> delivered = new ArrayList<>();

    Throwable ofOne =
        deliverAround(
            servers, () -> delivered.add(deliver(servers.two, servers.mailbox.id(), facts())));

    assertThat(ofOne).isInstanceOf(DeliveredBeforeException.class);
    assertThat(servers.messages()).containsExactlyElementsOf(delivered);
    assertThat(servers.numbers()).isEqualTo(new Numbers(2, 1, 1, 1, Set.of()));
  }

  @ParameterizedTest
  @EnumSource(names = "QUORUM")
  void whenServersReadAndThenWriteThenAMessageIsThereTwiceAndAnotherOneIsLost(
      Kind kind, CqlSession session) {
    Servers servers = new Servers(kind, session);
    UUID mailbox = servers.mailbox.id();
    List<StoredMessage> byTwo = new ArrayList<>();

    Throwable ofOne =
        deliverAround(
            servers,
            () -> {
              byTwo.add(servers.two.writes().deliver(mailbox, facts(), NONE, now()));
              byTwo.add(deliver(servers.two, mailbox, facts()));
            });

    assertThat(ofOne).isNull();
    // The other message had the first UID.
    assertThat(servers.messages()).hasSize(2).doesNotContain(byTwo.get(0)).contains(byTwo.get(1));
  }
}
