// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MailboxChangesTest {
  private static final StoredFlags NONE = new StoredFlags(0, Set.of());
  private static final StoredFlags SEEN = new StoredFlags(StoredFlags.SEEN, Set.of());

  /** A mailbox in memory, to which changes are made as a store makes them. */
  private static final class Model {
    Numbers numbers = Numbers.INITIAL;
    final TreeMap<Long, StoredMessage> messages = new TreeMap<>();
    final TreeMap<Long, Delivered> entries = new TreeMap<>();

    MailboxView view(List<Long> uids) {
      return new MailboxView(
          numbers,
          uids.stream().filter(messages::containsKey).map(messages::get).toList(),
          List.of());
    }

    MailboxView view(DeliveryId id) {
      return viewOf(List.of(id));
    }

    MailboxView viewOf(List<DeliveryId> ids) {
      return new MailboxView(
          numbers,
          List.of(),
          ids.stream()
              .map(DeliveryId::place)
              .distinct()
              .filter(entries::containsKey)
              .map(entries::get)
              .toList());
    }

    <T> T make(MailboxChange<T> change) {
      numbers = change.after();
      change.listed().forEach(message -> messages.put(message.uid(), message));
      change.flagged().forEach(message -> messages.put(message.uid(), message));
      change.removed().forEach(message -> messages.remove(message.uid()));
      change.delivered().forEach(entry -> entries.put(entry.id().place(), entry));
      return change.answer();
    }
  }

  private static MessageFacts facts() {
    UUID id = UUID.randomUUID();
    return new MessageFacts(id, id, Instant.EPOCH, 10, 5);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void whenAnyChangesFollowOneAnotherThenNumbersAreThoseOfTheMessages(long seed) {
    Random random = new Random(seed);
    Model model = new Model();
    long lastUid = 0;
    for (int step = 0; step < 500; step++) {
      Numbers before = model.numbers;
      List<Long> uids = new ArrayList<>();
      for (long uid = 1; uid < before.nextUid(); uid++) {
        if (random.nextInt(5) == 0) {
          uids.add(uid);
        }
      }
      StoredFlags flags = random.nextBoolean() ? SEEN : NONE;
      switch (random.nextInt(4)) {
        case 0, 1 -> {
          StoredMessage message =
              model.make(
                  MailboxChanges.deliver(model.view(List.of()), facts(), flags, Instant.EPOCH));
          assertThat(message.uid()).isGreaterThan(lastUid);
          assertThat(message.modSeq()).isGreaterThan(before.highestModSeq());
          lastUid = message.uid();
        }
        case 2 -> {
          for (FlagChange change :
              model.make(MailboxChanges.flag(model.view(uids), old -> flags))) {
            assertThat(change.after().modSeq() > before.highestModSeq())
                .isEqualTo(!change.before().equals(flags));
          }
        }
        default -> {
          List<StoredMessage> removed = model.make(MailboxChanges.expunge(model.view(uids)));
          assertThat(model.numbers.highestModSeq() > before.highestModSeq())
              .isEqualTo(!removed.isEmpty());
        }
      }
      assertThat(model.numbers.messages()).isEqualTo(model.messages.size());
      assertThat(model.numbers.unseen())
          .isEqualTo(model.messages.values().stream().filter(m -> m.flags().unseen() == 1).count());
      assertThat(model.messages.values())
          .allMatch(message -> message.modSeq() <= model.numbers.highestModSeq());
    }
  }

  @Test
  void whenAUidThatIsThereIsListedAgainThenTheMessageTakesItsPlace() {
    Model model = new Model();
    StoredMessage first =
        model.make(MailboxChanges.deliver(model.view(List.of()), facts(), NONE, Instant.EPOCH));
    StoredMessage other = new StoredMessage(first.uid(), 7, SEEN, Instant.EPOCH, facts());
    model.make(MailboxChanges.list(model.view(List.of(first.uid())), other));
    assertThat(model.messages.values()).containsExactly(other);
    assertThat(model.numbers).isEqualTo(new Numbers(2, 7, 1, 0, Set.of()));
  }

  @Test
  void whenAListedMessageHasALaterUidThenTheNextOneIsAboveIt() {
    Model model = new Model();
    model.make(
        MailboxChanges.list(
            model.view(List.of()), new StoredMessage(9, 4, NONE, Instant.EPOCH, facts())));
    assertThat(model.make(MailboxChanges.giveUid(model.view(List.of())))).isEqualTo(10);
    assertThat(model.make(MailboxChanges.giveModSeq(model.view(List.of())))).isEqualTo(5);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void whenDeliveriesAreOneChangeThenItIsAsIfTheyFollowedOneAnother(long seed) {
    Random random = new Random(seed);
    Model together = new Model();
    Model alone = new Model();
    for (int round = 0; round < 50; round++) {
      List<NewMessage> deliveries = Stream.generate(() -> delivery(random)).limit(8).toList();
      List<DeliveryId> ids = deliveries.stream().flatMap(each -> each.id().stream()).toList();
      List<Supplier<StoredMessage>> answers =
          together.make(MailboxChanges.deliverAll(together.viewOf(ids), deliveries));
      for (int i = 0; i < deliveries.size(); i++) {
        NewMessage each = deliveries.get(i);
        assertThat(outcome(answers.get(i))).isEqualTo(outcome(() -> deliver(alone, each)));
      }
      assertThat(together.numbers).isEqualTo(alone.numbers);
      assertThat(together.messages).isEqualTo(alone.messages);
      assertThat(together.entries).isEqualTo(alone.entries);
    }
  }

  /** Some come again, some meet at one place, and some bring keywords until there are too many. */
  private static NewMessage delivery(Random random) {
    String hash = "%016x%048x".formatted(random.nextInt(40), random.nextInt(2));
    Set<String> keywords =
        IntStream.range(0, random.nextInt(20))
            .mapToObj(i -> "keyword" + random.nextInt(2_000))
            .collect(Collectors.toSet());
    UUID message = new UUID(0, random.nextInt(3));
    return new NewMessage(
        random.nextInt(4) == 0 ? Optional.empty() : Optional.of(new DeliveryId(hash)),
        new MessageFacts(message, message, Instant.EPOCH, 10, 5),
        new StoredFlags(random.nextBoolean() ? StoredFlags.SEEN : 0, keywords),
        Instant.EPOCH);
  }

  private static StoredMessage deliver(Model model, NewMessage each) {
    List<DeliveryId> ids = each.id().stream().toList();
    MailboxView view = model.viewOf(ids);
    return model.make(
        each.id().isEmpty()
            ? MailboxChanges.deliver(view, each.facts(), each.flags(), each.saved())
            : MailboxChanges.deliverOnce(
                view, ids.get(0), each.facts(), each.flags(), each.saved()));
  }

  private static Object outcome(Supplier<StoredMessage> delivery) {
    try {
      return delivery.get();
    } catch (DeliveredBeforeException | TooManyKeywordsException e) {
      return e.getClass();
    }
  }

  @Test
  void whenADeliveryIsRepeatedThenNothingChanges() {
    Model model = new Model();
    DeliveryId id = DeliveryId.of(new byte[] {1}, "sender", "recipient");
    MessageFacts facts = facts();
    StoredMessage first =
        model.make(MailboxChanges.deliverOnce(model.view(id), id, facts, NONE, Instant.EPOCH));
    Numbers numbers = model.numbers;
    assertThat(numbers).isEqualTo(new Numbers(2, 1, 1, 1, Set.of()));

    assertThat(
            model.make(MailboxChanges.deliverOnce(model.view(id), id, facts, NONE, Instant.EPOCH)))
        .as("the same attempt, whose answer was lost")
        .isEqualTo(first);
    assertThatThrownBy(
            () -> MailboxChanges.deliverOnce(model.view(id), id, facts(), NONE, Instant.EPOCH))
        .as("another attempt")
        .isInstanceOf(DeliveredBeforeException.class);
    assertThat(model.numbers).isEqualTo(numbers);
    assertThat(model.messages.values()).containsExactly(first);
  }

  @Test
  void whenAnotherDeliveryHasThePlaceOfAnEntryThenItIsNotTakenForThatOne() {
    DeliveryId id = new DeliveryId("8" + "0".repeat(63));
    DeliveryId other = new DeliveryId("0".repeat(63) + "1");
    assertThat(id.place()).isEqualTo(other.place()).isNegative();
    Model model = new Model();
    for (DeliveryId each : List.of(id, other)) {
      model.make(MailboxChanges.deliverOnce(model.view(each), each, facts(), NONE, Instant.EPOCH));
    }
    assertThat(model.messages).hasSize(2);
    assertThat(model.entries.values()).extracting(Delivered::id).containsExactly(other);
  }

  @Test
  void whenSenderRecipientOrContentDiffersThenItIsAnotherDelivery() {
    assertThat(
            Set.of(
                DeliveryId.of(new byte[] {1}, "a", "b"),
                DeliveryId.of(new byte[] {1}, "b", "a"),
                DeliveryId.of(new byte[] {1}, "", "b"),
                DeliveryId.of(new byte[] {2}, "a", "b")))
        .hasSize(4);
  }

  @Test
  void whenAMailboxWouldKnowTooManyKeywordsThenNothingChanges() {
    Set<String> keywords =
        IntStream.rangeClosed(0, Numbers.MAX_KEYWORDS)
            .mapToObj(i -> "keyword" + i)
            .collect(Collectors.toSet());
    MailboxView view = new Model().view(List.of());
    assertThatThrownBy(
            () ->
                MailboxChanges.deliver(view, facts(), new StoredFlags(0, keywords), Instant.EPOCH))
        .isInstanceOf(TooManyKeywordsException.class);
  }
}
