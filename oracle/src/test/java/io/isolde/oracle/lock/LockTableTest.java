// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.lock;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.lock.LockTable.Mode;
import io.isolde.oracle.lock.LockTable.Outcome;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Who gets which row when, alone and in random histories. */
class LockTableTest {
  private static final long LEASE_MILLIS = 100;
  private static final UUID A = new UUID(0, 1);
  private static final UUID B = new UUID(0, 2);
  private static final UUID C = new UUID(0, 3);

  private static final List<Mode> MODES = List.of(Mode.WAIT, Mode.NOWAIT, Mode.SKIP);

  private final LockTable table = new LockTable(LEASE_MILLIS);

  private Outcome ask(UUID transaction, Mode mode, Long... ids) {
    return table.ask(transaction, Set.of(ids), mode, 0).outcome();
  }

  @Test
  void whenManyWaitThenTheyGetTheRowInTheirOrder() {
    assertThat(ask(A, Mode.WAIT, 1L)).isEqualTo(Outcome.GRANTED);
    assertThat(table.ask(B, Set.of(1L), Mode.WAIT, 0).inTheWay()).contains(A);
    assertThat(table.ask(C, Set.of(1L), Mode.WAIT, 0).inTheWay()).contains(B);
    assertThat(ask(B, Mode.WAIT, 1L)).isEqualTo(Outcome.WAITS); // and keeps its place
    assertThat(table.release(A)).containsExactly(B);
    assertThat(ask(B, Mode.WAIT, 1L)).isEqualTo(Outcome.GRANTED);
    assertThat(table.release(B)).containsExactly(C);
    assertThat(table.release(C)).isEmpty();
    assertThat(table.entries()).isEmpty();
  }

  @Test
  void whenARowIsLockedThenWhoDoesNotWaitGetsNothing() {
    assertThat(ask(A, Mode.NOWAIT, 2L)).isEqualTo(Outcome.GRANTED);
    assertThat(ask(B, Mode.NOWAIT, 1L, 2L)).isEqualTo(Outcome.LOCKED);
    assertThat(ask(C, Mode.NOWAIT, 1L)).isEqualTo(Outcome.GRANTED);
  }

  @Test
  void whenRowsAreSkippedThenTheFreeOnesAreLocked() {
    assertThat(ask(A, Mode.SKIP, 2L)).isEqualTo(Outcome.GRANTED);
    assertThat(table.ask(B, Set.of(1L, 2L, 3L), Mode.SKIP, 0).lockedByOthers()).containsExactly(2L);
    assertThat(ask(C, Mode.NOWAIT, 3L)).isEqualTo(Outcome.LOCKED);
    assertThat(table.ask(C, Set.of(1L, 2L), Mode.SKIP, 0).lockedByOthers())
        .containsExactlyInAnyOrder(1L, 2L, 3L); // also what nobody asked for
    assertThat(table.entries()).hasSize(2); // C has nothing, and is not remembered.
  }

  @Test
  void whenTwoWaitForOneAnotherThenTheLastIsRefused() {
    ask(A, Mode.WAIT, 1L);
    ask(B, Mode.WAIT, 2L);
    ask(C, Mode.WAIT, 3L);
    assertThat(ask(A, Mode.WAIT, 2L)).isEqualTo(Outcome.WAITS);
    assertThat(ask(B, Mode.WAIT, 3L)).isEqualTo(Outcome.WAITS);
    assertThat(ask(C, Mode.WAIT, 1L)).isEqualTo(Outcome.DEADLOCK);
    assertThat(table.release(C)).containsExactly(B);
  }

  @Test
  void whenManyWaitBesideThenACircleIsFoundAllTheSame() {
    ask(A, Mode.WAIT, 1L);
    ask(B, Mode.WAIT, 2L);
    ask(B, Mode.WAIT, 1L);
    for (int i = 0; i < 200; i++) {
      ask(new UUID(2, i), Mode.WAIT, 1L);
      ask(new UUID(2, i), Mode.WAIT, 1L, 2L);
    }
    assertThat(ask(A, Mode.WAIT, 2L)).isEqualTo(Outcome.DEADLOCK);
  }

  @Test
  void whenATransactionGivesUpThenTheOthersGoOn() {
    ask(A, Mode.WAIT, 1L);
    assertThat(ask(B, Mode.WAIT, 1L, 2L)).isEqualTo(Outcome.WAITS);
    assertThat(ask(C, Mode.WAIT, 2L)).isEqualTo(Outcome.WAITS);
    assertThat(table.giveUp(B, Set.of(1L, 2L))).containsExactly(C);
    assertThat(table.release(A)).isEmpty();
  }

  @Test
  void whenItIsSilentForALeaseThenItsRowsAreFree() {
    table.ask(A, Set.of(1L), Mode.WAIT, 0);
    table.ask(B, Set.of(1L), Mode.WAIT, 50);
    assertThat(table.expire(LEASE_MILLIS)).isEmpty();
    assertThat(table.expire(LEASE_MILLIS + 1)).containsExactly(B);
    table.ask(B, Set.of(1L), Mode.SKIP, 200); // renews it
    assertThat(table.expire(300)).isEmpty();
    assertThat(table.expire(301)).isEmpty();
    assertThat(table.entries()).isEmpty();
  }

  @Test
  void whenItRenewsWhatItHasThenItKeepsItsPlaces() {
    ask(A, Mode.WAIT, 1L);
    ask(B, Mode.WAIT, 2L);
    ask(B, Mode.WAIT, 1L);
    ask(B, Mode.SKIP, 2L);
    assertThat(table.release(A)).containsExactly(B);
  }

  @Test
  void whenItAsksForTooMuchThenItGetsNothing() {
    Set<Long> all = new HashSet<>(LongStream.rangeClosed(0, 1_024).boxed().toList());
    assertThat(table.ask(A, all, Mode.WAIT, 0).outcome()).isEqualTo(Outcome.FULL);
    all.remove(0L);
    assertThat(table.ask(A, all, Mode.WAIT, 0).outcome()).isEqualTo(Outcome.GRANTED);
    assertThat(ask(A, Mode.WAIT, 0L)).isEqualTo(Outcome.FULL);
    assertThat(ask(B, Mode.WAIT, 0L)).isEqualTo(Outcome.GRANTED);
  }

  /** Against what the promises say: one holder, first come first served, and nobody for ever. */
  @Test
  void whenManyAskAtRandomThenNobodyIsForgottenOrOvertaken() {
    for (int i = 0; i < 400; i++) {
      long seed = new Random().nextLong();
      try {
        randomHistory(new Random(seed));
      } catch (AssertionError e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private static void randomHistory(Random random) {
    LockTable table = new LockTable(LEASE_MILLIS);
    Map<UUID, Set<Long>> has = new HashMap<>();
    Map<UUID, Set<Long>> waiting = new HashMap<>();
    Map<Long, List<UUID>> queues = new HashMap<>();
    for (int step = 0; step < 120; step++) {
      UUID who = new UUID(1, random.nextInt(7));
      List<UUID> granted = List.of();
      if (random.nextInt(3) == 0) {
        granted = table.release(who);
        has.remove(who);
        waiting.remove(who);
        queues.values().forEach(queue -> queue.remove(who));
      } else if (!waiting.containsKey(who)) {
        Set<Long> ids = new HashSet<>();
        for (int n = 1 + random.nextInt(3); n > 0; n--) {
          ids.add((long) random.nextInt(6));
        }
        Mode mode = MODES.get(random.nextInt(MODES.size()));
        LockTable.Answer answer = table.ask(who, ids, mode, 0);
        ids.removeAll(answer.lockedByOthers());
        ids.removeAll(has.getOrDefault(who, Set.of()));
        if (answer.outcome() == Outcome.GRANTED) {
          has.computeIfAbsent(who, made -> new HashSet<>()).addAll(ids);
        } else if (answer.outcome() == Outcome.WAITS) {
          waiting.put(who, ids);
          ids.forEach(id -> queues.computeIfAbsent(id, made -> new ArrayList<>()).add(who));
        }
      }
      for (UUID one : granted) {
        Set<Long> ids = waiting.remove(one);
        has.computeIfAbsent(one, made -> new HashSet<>()).addAll(ids);
        for (long id : ids) {
          assertThat(queues.get(id).get(0)).as("nobody is overtaken").isEqualTo(one);
          queues.get(id).remove(one);
        }
      }
      assertThat(table.isSound()).isTrue();
      Set<Long> all = new HashSet<>();
      has.values().forEach(ids -> ids.forEach(id -> assertThat(all.add(id)).isTrue()));
    }
    for (int who = 0; who < 7; who++) {
      table.release(new UUID(1, who));
    }
    assertThat(table.entries()).isEmpty();
  }
}
