// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a node promises about names that are about to be in the schema. */
class ReservedNamesTest {
  private static final UUID ONE = new UUID(0, 1);
  private static final UUID OTHER = new UUID(0, 2);
  private static final int NODES = 5;

  private final ReservedNames names = new ReservedNames();

  @Test
  void whenANameIsPromisedThenOthersWaitUntilThePromiseEnds() {
    assertThat(names.reserve("k", ONE, 0)).isTrue();
    assertThat(names.reserve("k", ONE, 1)).as("asked again").isTrue();
    assertThat(names.reserve("k", OTHER, ReservedNames.MAX_MILLIS)).isFalse();
    assertThat(names.reserve("l", OTHER, 2)).isTrue();
    assertThat(names.reserve("k", OTHER, ReservedNames.MAX_MILLIS + 1)).isTrue();
    assertThat(names.reserve("k", ONE, ReservedNames.MAX_MILLIS + 2)).isFalse();
  }

  @Test
  void whenTheMakerGivesUpOrHasMadeItThenTheNameIsFree() {
    assertThat(names.reserve("k", ONE, 0)).isTrue();
    names.release("k", OTHER);
    assertThat(names.reserve("k", OTHER, 1)).as("not the other's to give up").isFalse();
    names.release("k", ONE);
    assertThat(names.reserve("k", OTHER, 2)).isTrue();
    names.made("k");
    assertThat(names.reserve("k", ONE, 3)).isTrue();
  }

  @Test
  void whenThereAreTooManyThenFurtherOnesAreRefusedUntilSomeEnd() {
    for (int i = 0; i < ReservedNames.MAX_NAMES; i++) {
      assertThat(names.reserve("k" + i, ONE, 0)).isTrue();
    }
    assertThat(names.reserve("further", ONE, 1)).isFalse();
    assertThat(names.reserve("k0", ONE, 1)).isTrue();
    assertThat(names.reserve("further", ONE, ReservedNames.MAX_MILLIS)).isTrue();
  }

  /** Makers ask in any order, give up when they don't have a majority, and try again. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void whenManyAskForTheSameNameThenAtMostOneHasMoreThanHalf(long seed) {
    Random random = new Random(seed);
    int makers = 0;
    for (int round = 0; round < 500; round++) {
      List<ReservedNames> nodes = new ArrayList<>();
      for (int i = 0; i < NODES; i++) {
        nodes.add(new ReservedNames());
      }
      int[] promises = new int[3];
      for (int i = 0; i < 3 * NODES; i++) {
        int maker = random.nextInt(3);
        ReservedNames node = nodes.get(random.nextInt(NODES));
        boolean isNew = node.reserve("k", new UUID(1, maker), i);
        node.release("k", new UUID(2, maker)); // of an attempt before, and late
        promises[maker] = isNew ? promises[maker] | 1 << nodes.indexOf(node) : promises[maker];
      }
      long having = Arrays.stream(promises).filter(ReservedNamesTest::isMajority).count();
      assertThat(having).as("seed %s", seed).isLessThanOrEqualTo(1);
      makers += (int) having;
    }
    assertThat(makers).as("seed %s", seed).isPositive();
  }

  private static boolean isMajority(int promises) {
    return Integer.bitCount(promises) > NODES / 2;
  }
}
