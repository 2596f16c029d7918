// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import static io.isolde.history.RegisterOperation.NEVER;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.history.RegisterOperation.Kind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LinearizabilityTest {
  private static RegisterOperation read(Integer value, long from, long to) {
    return new RegisterOperation(Kind.READ, null, value, true, from, to);
  }

  private static RegisterOperation write(int value, long from, long to) {
    return new RegisterOperation(Kind.WRITE, null, value, true, from, to);
  }

  private static RegisterOperation swap(
      Integer expected, int value, boolean isApplied, long from, long to) {
    return new RegisterOperation(Kind.SWAP, expected, value, isApplied, from, to);
  }

  private static boolean isLinearizable(RegisterOperation... operations) {
    return Linearizability.check(List.of(operations));
  }

  @Test
  void whenAReadFindsWhatWasAnsweredBeforeThenItIsLinearizable() {
    assertThat(isLinearizable(read(null, 0, 1), write(1, 2, 3), read(1, 4, 5))).isTrue();
  }

  @Test
  void whenAReadMissesWhatWasAnsweredBeforeThenItIsNot() {
    assertThat(isLinearizable(write(1, 0, 1), read(null, 2, 3))).isFalse();
    assertThat(isLinearizable(write(1, 0, 1), write(2, 2, 3), read(1, 4, 5))).isFalse();
  }

  @Test
  void whenOperationsOverlapThenEitherOrderWillDoButForAllReadersTheSame() {
    assertThat(isLinearizable(write(1, 0, 9), write(2, 0, 9), read(1, 10, 11))).isTrue();
    assertThat(isLinearizable(write(1, 0, 9), read(1, 1, 2), read(null, 3, 4))).isFalse();
    assertThat(isLinearizable(write(1, 0, 5), write(2, 0, 5), read(1, 6, 7), read(2, 8, 9)))
        .isFalse();
  }

  @Test
  void whenAWriteHasNoAnswerThenItMayHappenLateOrNeverButNotTwice() {
    assertThat(isLinearizable(write(1, 0, NEVER), read(null, 1, 2))).isTrue();
    assertThat(isLinearizable(write(1, 0, NEVER), read(null, 1, 2), read(1, 3, 4))).isTrue();
    assertThat(isLinearizable(write(1, 0, NEVER), read(1, 1, 2), write(2, 3, 4), read(1, 5, 6)))
        .isFalse();
  }

  @Test
  void whenTwoSwapsExpectTheSameThenOneAtMostMayBeApplied() {
    assertThat(isLinearizable(swap(null, 1, true, 0, 5), swap(null, 2, false, 0, 5))).isTrue();
    assertThat(isLinearizable(swap(null, 1, true, 0, 5), swap(null, 2, true, 0, 5))).isFalse();
    assertThat(isLinearizable(write(1, 0, 1), swap(1, 2, false, 2, 3))).isFalse();
    assertThat(isLinearizable(swap(null, 1, true, 0, NEVER), read(1, 5, 6), read(1, 7, 8)))
        .isTrue();
  }

  /** Each operation takes effect at a random moment within its time; some answers get lost. */
  private static List<RegisterOperation> simulated(Random random) {
    record Planned(Kind kind, long at, long from, long to) {}
    List<Planned> plan = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      long at = 10L * i + random.nextInt(10);
      plan.add(
          new Planned(
              List.of(Kind.values()).get(random.nextInt(3)),
              at,
              at - random.nextInt(40),
              at + 1 + random.nextInt(40)));
    }
    List<RegisterOperation> history = new ArrayList<>();
    Integer state = null;
    for (Planned planned : plan) {
      boolean isLost = random.nextInt(12) == 0;
      long to = isLost ? NEVER : planned.to();
      int value = history.size() + 1000;
      switch (planned.kind()) {
        case READ -> history.add(read(isLost ? null : state, planned.from(), to));
        case WRITE -> {
          boolean happens = !isLost || random.nextBoolean();
          state = happens ? Integer.valueOf(value) : state;
          history.add(write(value, planned.from(), to));
        }
        case SWAP -> {
          Integer expected = random.nextInt(3) == 0 ? Integer.valueOf(-1) : state;
          boolean isApplied = Objects.equals(expected, state);
          state = isApplied ? Integer.valueOf(value) : state;
          history.add(swap(expected, value, isApplied, planned.from(), to));
        }
      }
    }
    Collections.shuffle(history, random);
    return history;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
  void whenARegisterDidItThenItIsLinearizableAndWithAReadFromTheFutureItIsNot(long seed) {
    List<RegisterOperation> history = simulated(new Random(seed));
    assertThat(Linearizability.check(history)).as("seed %s", seed).isTrue();
    history.add(read(-7, 300, 301));
    assertThat(Linearizability.check(history)).as("seed %s", seed).isFalse();
  }
}
