// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

    MailboxView view(List<Long> uids) {
      return new MailboxView(
          numbers, uids.stream().filter(messages::containsKey).map(messages::get).toList());
    }

    <T> T make(MailboxChange<T> change) {
      numbers = change.after();
      change.listed().forEach(message -> messages.put(message.uid(), message));
      change.flagged().forEach(message -> messages.put(message.uid(), message));
      change.removed().forEach(message -> messages.remove(message.uid()));
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
