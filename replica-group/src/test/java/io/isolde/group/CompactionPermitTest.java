// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.group.CompactionPermit.State;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CompactionPermitTest {
  private static final long WAIT_MILLIS = 60_000;

  private final CompactionPermit compactionPermit = new CompactionPermit(WAIT_MILLIS);

  private static MemberLoad other(String id, State state, boolean isLeader) {
    return other(id, state, 0, isLeader);
  }

  private static MemberLoad other(String id, State state, long sinceMillis, boolean isLeader) {
    return new MemberLoad(id, new NodeLoad(0, state, sinceMillis, isLeader), 0);
  }

  private boolean claims(boolean isLeader, MemberLoad... others) {
    return compactionPermit.claim(1, "b", isLeader, List.of(others));
  }

  @Test
  void whenNobodyElseWantsToThenItBegins() {
    compactionPermit.want(0);
    assertThat(compactionPermit.state()).isEqualTo(State.WAITING);
    assertThat(claims(true, other("a", State.IDLE, false))).isTrue();
    assertThat(compactionPermit.keep(1, List.of(other("a", State.WAITING, false)))).isTrue();
    assertThat(compactionPermit.state()).isEqualTo(State.WORKING);
    compactionPermit.end();
    assertThat(compactionPermit.state()).isEqualTo(State.IDLE);
  }

  @Test
  void whenAnotherWorksThenItWaits() {
    compactionPermit.want(0);
    assertThat(claims(false, other("c", State.WORKING, true))).isFalse();
    assertThat(compactionPermit.state()).isEqualTo(State.WAITING);
  }

  @Test
  void whenAnotherHasBegunAtTheSameMomentThenItGoesBackToWaiting() {
    compactionPermit.want(0);
    assertThat(claims(false, other("c", State.WAITING, false))).isTrue();
    assertThat(compactionPermit.keep(1, List.of(other("c", State.WORKING, false)))).isFalse();
    assertThat(compactionPermit.state()).isEqualTo(State.WAITING);
  }

  @Test
  void whenSeveralWaitThenTheFirstGoesFirst() {
    compactionPermit.want(100);
    assertThat(claims(false, other("c", State.WAITING, 99, false))).isFalse();
    assertThat(claims(false, other("a", State.WAITING, 100, false))).isFalse();
    assertThat(claims(false, other("a", State.WAITING, 101, false))).isTrue();
  }

  @Test
  void whenALeaderWaitsThenItIsAsIfItHadComeTenSecondsLater() {
    compactionPermit.want(100);
    assertThat(claims(true, other("c", State.WAITING, 10_099, false))).isFalse();
    assertThat(claims(true, other("a", State.WAITING, 100, true))).isFalse();
    assertThat(claims(false, other("a", State.WAITING, -9_901, true))).isFalse();
    assertThat(claims(false, other("a", State.WAITING, -9_899, true))).isTrue();
  }

  @Test
  void whenItHasWaitedForTooLongThenItBeginsWhateverOthersDo() {
    compactionPermit.want(5);
    compactionPermit.want(WAIT_MILLIS); // It has waited since 5.
    List<MemberLoad> busy = List.of(other("a", State.WORKING, false));
    assertThat(compactionPermit.claim(WAIT_MILLIS + 4, "b", false, busy)).isFalse();
    assertThat(compactionPermit.claim(WAIT_MILLIS + 5, "b", false, busy)).isTrue();
    assertThat(compactionPermit.keep(WAIT_MILLIS + 5, busy)).isTrue();
  }

  /** A node that wants to work again and again; each answer that it gets is a step of its own. */
  private static final class Worker {
    private enum Phase {
      REST,
      FIRST_LOOK,
      SECOND_LOOK,
      WORK
    }

    private final String id;
    private final CompactionPermit compactionPermit = new CompactionPermit(Long.MAX_VALUE);
    private final Deque<Worker> toAsk = new ArrayDeque<>();
    private final List<MemberLoad> answers = new ArrayList<>();
    private Phase phase = Phase.REST;
    private boolean isLeader;
    private int rounds;
    private long now;

    Worker(String id) {
      this.id = id;
    }

    void step(long millis, List<Worker> all, Random random) {
      now = millis;
      if (!toAsk.isEmpty()) {
        Worker asked = toAsk.poll();
        answers.add(
            other(
                asked.id,
                asked.compactionPermit.state(),
                asked.compactionPermit.sinceMillis(),
                asked.isLeader));
        return;
      }
      switch (phase) {
        case REST -> {
          compactionPermit.want(now);
          look(Phase.FIRST_LOOK, all, random);
        }
        case FIRST_LOOK -> {
          if (compactionPermit.claim(now, id, isLeader, answers)) {
            look(Phase.SECOND_LOOK, all, random);
          } else {
            phase = Phase.REST;
          }
        }
        case SECOND_LOOK -> {
          phase = compactionPermit.keep(now, answers) ? Phase.WORK : Phase.REST;
          rounds += phase == Phase.WORK ? 1 : 0;
        }
        case WORK -> {
          if (random.nextInt(5) == 0) {
            compactionPermit.end();
            phase = Phase.REST;
          }
        }
      }
    }

    private void look(Phase next, List<Worker> all, Random random) {
      phase = next;
      answers.clear();
      List<Worker> others = new ArrayList<>(all);
      others.remove(this);
      Collections.shuffle(others, random);
      toAsk.addAll(others);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void whenAllWantToAgainAndAgainInAnyOrderThenOneWorksAtATimeAndAllGetTheirTurns(long seed) {
    Random random = new Random(seed);
    List<Worker> workers = new ArrayList<>();
    for (int i = 0; i < 2 + random.nextInt(4); i++) {
      workers.add(new Worker("n" + i));
    }
    for (int step = 0; step < 200_000; step++) {
      if (random.nextInt(500) == 0) {
        workers.forEach(worker -> worker.isLeader = false);
        workers.get(random.nextInt(workers.size())).isLeader = true;
      }
      workers.get(random.nextInt(workers.size())).step(step * 10L, workers, random);
      assertThat(workers.stream().filter(worker -> worker.phase == Worker.Phase.WORK))
          .as("seed %s, step %s", seed, step)
          .hasSizeLessThanOrEqualTo(1);
    }
    assertThat(workers).as("seed %s", seed).allMatch(worker -> worker.rounds > 50);
  }
}
