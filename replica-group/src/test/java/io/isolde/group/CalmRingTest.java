// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.group.CalmRing.Seen;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CalmRingTest {
  private static final long CALM_MILLIS = 1_000;
  private static final Seen THREE = new Seen(Set.of("a", "b", "c"), Set.of(), true);
  private static final Seen FOUR = new Seen(Set.of("a", "b", "c", "d"), Set.of(), true);

  private final CalmRing ring = new CalmRing(CALM_MILLIS);

  @Test
  void whenTheRingHasBeenTheSameForAWhileThenItIsDueUntilItIsDone() {
    assertThat(ring.isDue(0, THREE)).isFalse();
    assertThat(ring.isDue(999, THREE)).isFalse();
    assertThat(ring.isDue(1_000, THREE)).isTrue();
    ring.done();
    assertThat(ring.isDue(9_000, THREE)).isFalse();
    assertThat(ring.isDue(10_000, FOUR)).isFalse();
    assertThat(ring.isDue(11_000, FOUR)).isTrue();
  }

  @Test
  void whenNodesComeOneAfterTheOtherThenItWaitsForTheLast() {
    assertThat(ring.isDue(0, THREE)).isFalse();
    assertThat(ring.isDue(900, FOUR)).isFalse();
    assertThat(ring.isDue(1_800, FOUR)).isFalse();
    assertThat(ring.isDue(1_900, FOUR)).isTrue();
  }

  @Test
  void whenANodeIsDownThenNothingIsMovedAndTheWaitBeginsAgain() {
    assertThat(ring.isDue(0, THREE)).isFalse();
    Seen down = new Seen(THREE.nodes(), Set.of(), false);
    assertThat(ring.isDue(500, down)).isFalse();
    assertThat(ring.isDue(5_000, down)).isFalse();
    assertThat(ring.isDue(6_000, THREE)).isFalse();
    assertThat(ring.isDue(7_000, THREE)).isTrue();
  }

  @Test
  void whenAllIsDoneAndANodeIsDownForAMomentThenNothingIsMovedAgain() {
    assertThat(ring.isDue(0, THREE)).isFalse();
    assertThat(ring.isDue(1_000, THREE)).isTrue();
    ring.done();
    assertThat(ring.isDue(2_000, new Seen(THREE.nodes(), Set.of(), false))).isFalse();
    assertThat(ring.isDue(3_000, THREE)).isFalse();
    assertThat(ring.isDue(9_000, THREE)).isFalse();
  }

  @Test
  void whenANodeIsLeavingThenItIsDueAtOnceAndAgainWhenTheNodeIsGone() {
    Seen leaving = new Seen(FOUR.nodes(), Set.of("d"), true);
    assertThat(ring.isDue(0, leaving)).isTrue();
    ring.done();
    assertThat(ring.isDue(100, leaving)).isFalse();
    assertThat(ring.isDue(200, THREE)).isFalse();
    assertThat(ring.isDue(1_200, THREE)).isTrue();
  }

  @Test
  void whenItFailsThenItIsTriedAgainAfterLongerAndLongerTimes() {
    long nowMillis = 0;
    assertThat(ring.isDue(nowMillis, THREE)).isFalse();
    nowMillis = 1_000;
    for (int factor : new int[] {1, 2, 4, 8, 16, 16, 16}) {
      assertThat(ring.isDue(nowMillis, THREE)).as("%d ms", nowMillis).isTrue();
      ring.failed(nowMillis);
      nowMillis += factor * CALM_MILLIS;
      assertThat(ring.isDue(nowMillis - 1, THREE)).as("%d ms", nowMillis - 1).isFalse();
    }
    ring.failed(nowMillis);
    assertThat(ring.isDue(nowMillis, FOUR)).isFalse();
    assertThat(ring.isDue(nowMillis + CALM_MILLIS, FOUR)).as("another ring").isTrue();
  }
}
