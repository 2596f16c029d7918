// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.group.CalmRing.Due;
import io.isolde.group.CalmRing.Seen;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class CalmRingTest {
  private static final long CALM_MILLIS = 1_000;
  private static final Seen THREE = seen(Set.of("a", "b", "c"), Set.of(), true);
  private static final Seen FOUR = seen(Set.of("a", "b", "c", "d"), Set.of(), true);

  private final CalmRing ring = new CalmRing(CALM_MILLIS);

  /** All that was due. */
  private void done() {
    ring.moved("k", Due.NOTHING);
    ring.ended(0, Set.of("k"));
  }

  private static Seen seen(Set<String> nodes, Set<String> leaving, boolean isWhole) {
    return new Seen(nodes, leaving, nodes, Map.of(), isWhole);
  }

  @Test
  void whenTheRingHasBeenTheSameForAWhileThenItIsDueUntilItIsDone() {
    assertThat(ring.due(0, THREE)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(999, THREE)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(1_000, THREE)).isEqualTo(Due.REPLICAS);
    done();
    assertThat(ring.due(9_000, THREE)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(10_000, FOUR)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(11_000, FOUR)).isEqualTo(Due.REPLICAS);
  }

  @Test
  void whenNodesComeOneAfterTheOtherThenItWaitsForTheLast() {
    assertThat(ring.due(0, THREE)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(900, FOUR)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(1_800, FOUR)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(1_900, FOUR)).isEqualTo(Due.REPLICAS);
  }

  @Test
  void whenANodeIsDownThenNothingIsMovedAndTheWaitBeginsAgain() {
    assertThat(ring.due(0, THREE)).isEqualTo(Due.NOTHING);
    Seen down = seen(THREE.nodes(), Set.of(), false);
    assertThat(ring.due(500, down)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(5_000, down)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(6_000, THREE)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(7_000, THREE)).isEqualTo(Due.REPLICAS);
  }

  @Test
  void whenAllIsDoneAndANodeIsDownForAMomentThenOnlyLeadersAreSpreadAgain() {
    assertThat(ring.due(0, THREE)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(1_000, THREE)).isEqualTo(Due.REPLICAS);
    done();
    assertThat(ring.due(2_000, seen(THREE.nodes(), Set.of(), false))).isEqualTo(Due.NOTHING);
    assertThat(ring.due(3_000, THREE)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(3_999, THREE)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(4_000, THREE)).isEqualTo(Due.LEADERS);
    done();
    assertThat(ring.due(9_000, THREE)).isEqualTo(Due.NOTHING);
  }

  @Test
  void whenAKeyspaceIsToHaveMoreReplicasThenTheyAreDue() {
    assertThat(ring.due(0, THREE)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(1_000, THREE)).isEqualTo(Due.REPLICAS);
    done();
    Seen created = wishing("in east");
    assertThat(ring.due(2_000, created)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(3_000, created)).isEqualTo(Due.NOTHING);
    Seen altered = wishing("in west");
    assertThat(ring.due(4_000, altered)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(5_000, altered)).isEqualTo(Due.REPLICAS);
  }

  private static Seen wishing(String wish) {
    return new Seen(THREE.nodes(), Set.of(), THREE.starts(), Map.of("k", wish), true);
  }

  @Test
  void whenANodeHasRestartedSoFastThatNobodyNoticedThenLeadersAreSpreadAgain() {
    assertThat(ring.due(0, THREE)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(1_000, THREE)).isEqualTo(Due.REPLICAS);
    done();
    Seen restarted = new Seen(THREE.nodes(), Set.of(), Set.of("a", "b", "c again"), Map.of(), true);
    assertThat(ring.due(2_000, restarted)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(3_000, restarted)).isEqualTo(Due.LEADERS);
  }

  @Test
  void whenANodeIsLeavingThenItIsDueAtOnceAndAgainWhenTheNodeIsGone() {
    Seen leaving = seen(FOUR.nodes(), Set.of("d"), true);
    assertThat(ring.due(0, leaving)).isEqualTo(Due.REPLICAS);
    done();
    assertThat(ring.due(100, leaving)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(200, THREE)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(1_200, THREE)).isEqualTo(Due.REPLICAS);
  }

  @Test
  void whenOneKeyspaceIsNotDoneThenTheOthersAreLeftAloneUntilNodesComeOrRestart() {
    assertThat(ring.due(0, THREE)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(1_000, THREE)).isEqualTo(Due.REPLICAS);
    ring.moved("good", Due.NOTHING);
    ring.moved("halfway", Due.LEADERS);
    ring.moved("bad", Due.REPLICAS);
    ring.moved("dropped", Due.REPLICAS);
    ring.ended(1_000, Set.of("good", "halfway", "bad"));
    assertThat(ring.due(2_000, THREE)).isEqualTo(Due.REPLICAS);
    assertThat(ring.due("good")).isEqualTo(Due.NOTHING);
    assertThat(ring.due("halfway")).isEqualTo(Due.LEADERS);
    assertThat(ring.due("bad")).isEqualTo(Due.REPLICAS);

    // A partition: the same ring and the same starts afterwards, and others lead.
    assertThat(ring.due(3_000, seen(THREE.nodes(), Set.of(), false))).isEqualTo(Due.NOTHING);
    assertThat(ring.due(4_000, THREE)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(5_000, THREE)).isEqualTo(Due.REPLICAS);
    assertThat(ring.due("good")).isEqualTo(Due.LEADERS);
    assertThat(ring.due("bad")).isEqualTo(Due.REPLICAS);
    for (String keyspace : Set.of("good", "halfway", "bad")) {
      ring.moved(keyspace, Due.NOTHING);
    }
    ring.ended(5_000, Set.of("good", "halfway", "bad"));
    assertThat(ring.due(9_000, THREE)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(9_100, FOUR)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(10_100, FOUR)).isEqualTo(Due.REPLICAS);
    assertThat(ring.due("good")).isEqualTo(Due.REPLICAS);
  }

  @Test
  void whenItFailsThenItIsTriedAgainAfterLongerAndLongerTimes() {
    long nowMillis = 0;
    assertThat(ring.due(nowMillis, THREE)).isEqualTo(Due.NOTHING);
    nowMillis = 1_000;
    for (int factor : new int[] {1, 2, 4, 8, 16, 16, 16}) {
      assertThat(ring.due(nowMillis, THREE)).as("%d ms", nowMillis).isEqualTo(Due.REPLICAS);
      ring.failed(nowMillis);
      nowMillis += factor * CALM_MILLIS;
      assertThat(ring.due(nowMillis - 1, THREE)).as("%d ms", nowMillis - 1).isEqualTo(Due.NOTHING);
    }
    ring.failed(nowMillis);
    assertThat(ring.due(nowMillis, FOUR)).isEqualTo(Due.NOTHING);
    assertThat(ring.due(nowMillis + CALM_MILLIS, FOUR)).as("another ring").isEqualTo(Due.REPLICAS);
  }
}
