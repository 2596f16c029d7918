// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MailboxNewsTest {
  private static final int STEPS = 2_000;
  private static final StoredFlags NONE = new StoredFlags(0, Set.of());
  private static final StoredFlags SEEN = new StoredFlags(StoredFlags.SEEN, Set.of());

  /** The mailbox in the cluster, and what the sessions of one server believe of it. */
  private static final class World {
    Numbers numbers = Numbers.INITIAL;
    final TreeMap<Long, StoredMessage> messages = new TreeMap<>();
    final Map<Long, StoredFlags> believed = new TreeMap<>();
    final MailboxNews news = new MailboxNews(numbers, List.<StoredMessage>of().iterator());

    /** Somebody changes the mailbox; if it is this server, its sessions hear of it. */
    <T> void make(Function<MailboxView, MailboxChange<T>> change, List<Long> uids, boolean isHere) {
      Runnable hearing = make(change, uids);
      if (isHere) {
        hearing.run();
      }
    }

    /** Returns how the sessions of this server hear of it, if it was this server. */
    <T> Runnable make(Function<MailboxView, MailboxChange<T>> change, List<Long> uids) {
      MailboxChange<T> made =
          change.apply(
              new MailboxView(
                  numbers,
                  uids.stream().filter(messages::containsKey).map(messages::get).toList(),
                  List.of()));
      numbers = made.after();
      List<StoredMessage> changed = new ArrayList<>(made.listed());
      changed.addAll(made.flagged());
      changed.forEach(message -> messages.put(message.uid(), message));
      made.removed().forEach(message -> messages.remove(message.uid()));
      return () -> {
        changed.forEach(this::hearHere);
        made.removed()
            .forEach(
                message -> {
                  believed.remove(message.uid());
                  news.heardRemoved(message.uid());
                });
      };
    }

    private void hearHere(StoredMessage message) {
      believed.put(message.uid(), message.flags());
      news.heard(message.uid(), message.modSeq(), message.flags());
    }

    /** Reads what is needed, while something may happen. */
    boolean refresh(Runnable meanwhile) {
      news.startReading();
      long firstNew = news.firstUnknownUid();
      Numbers read = numbers;
      if (!news.isBehind(read)) {
        news.stopReading();
        return false;
      }
      List<StoredMessage> added = List.copyOf(messages.tailMap(firstNew).values());
      if (news.isComplete(read, added)) {
        meanwhile.run();
        hear(news.withNew(read, added));
        return false;
      }
      List<StoredMessage> all = List.copyOf(messages.values());
      meanwhile.run();
      hear(news.withAll(read, all.iterator()));
      return true;
    }

    private void hear(MailboxNews.News heard) {
      heard
          .added()
          .forEach(
              message ->
                  assertThat(believed.put(message.uid(), message.flags()))
                      .as("message %d is new", message.uid())
                      .isNull());
      heard
          .flagged()
          .forEach(
              change ->
                  assertThat(believed.put(change.after().uid(), change.after().flags()))
                      .isEqualTo(change.before()));
      heard.removed().forEach(uid -> assertThat(believed.remove(uid)).isNotNull());
    }

    void deliver(boolean isHere) {
      UUID id = UUID.randomUUID();
      MessageFacts facts = new MessageFacts(id, id, Instant.EPOCH, 10, 5);
      make(view -> MailboxChanges.deliver(view, facts, NONE, Instant.EPOCH), List.of(), isHere);
    }

    Map<Long, StoredFlags> real() {
      Map<Long, StoredFlags> real = new TreeMap<>();
      messages.forEach((uid, message) -> real.put(uid, message.flags()));
      return real;
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void whenTwoServersChangeAMailboxThenTheSessionsOfOneLearnOfAll(long seed) {
    Random random = new Random(seed);
    World world = new World();
    for (int step = 0; step < STEPS; step++) {
      if (random.nextInt(10) == 0) {
        world.refresh(() -> change(world, random));
        world.refresh(() -> {});
        assertThat(world.believed).as("step %d", step).isEqualTo(world.real());
      } else {
        change(world, random);
      }
    }
  }

  private static void change(World world, Random random) {
    boolean isHere = random.nextBoolean();
    List<Long> uids = new ArrayList<>(world.messages.keySet());
    switch (uids.isEmpty() ? 0 : random.nextInt(4)) {
      case 1 -> {
        StoredFlags flags = random.nextBoolean() ? SEEN : NONE;
        List<Long> some = List.of(uids.get(random.nextInt(uids.size())), uids.get(0));
        // A server that flags what it does not know yet has read it before.
        if (isHere && !world.believed.keySet().containsAll(some)) {
          return;
        }
        world.make(
            view -> MailboxChanges.flag(view, before -> flags),
            some.stream().distinct().sorted().toList(),
            isHere);
      }
      case 2 ->
          world.make(
              MailboxChanges::expunge, List.of(uids.get(random.nextInt(uids.size()))), isHere);
      default -> world.deliver(isHere);
    }
  }

  /** What is heard may be older than what is read. */
  @Test
  void whenANewFlagIsHeardWhileReadingThenThatTheMessageHasGoneSinceIsNotMissed() {
    World world = new World();
    world.deliver(true);
    world.deliver(true);
    Runnable late = world.make(view -> MailboxChanges.flag(view, before -> SEEN), List.of(1L));
    world.make(MailboxChanges::expunge, List.of(1L), false);
    world.refresh(late);
    world.refresh(() -> {});
    assertThat(world.believed).isEqualTo(world.real());
  }

  @Test
  void whenMessagesAreDeliveredOnlyThenTheMailboxIsNotReadAsAWhole() {
    World world = new World();
    for (int i = 0; i < 100; i++) {
      world.deliver(true);
      world.deliver(false);
      assertThat(world.refresh(() -> {})).isFalse();
      assertThat(world.believed).isEqualTo(world.real());
    }
  }
}
