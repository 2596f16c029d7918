// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.testing.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Snapshots on clusters that fail in every way that the seed comes up with. */
class CreationSimulationTest {
  private static final int SEEDS_AT_ONCE = 100;

  static LongStream seeds() {
    return Seeds.fixedAndFresh(20);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whenNodesAndMessagesFailThenItIsOnAllNodesOrOnNone(long seed) {
    split(seed, SEEDS_AT_ONCE).forEach(one -> new SimulatedCluster(one).run());
  }

  @Test
  void whenManySeedsAreRunThenBothEndsAndDeadCreatorsAreAmongThem() {
    List<String> ends = new ArrayList<>();
    split(1, 300)
        .forEach(
            seed -> {
              SimulatedCluster cluster = new SimulatedCluster(seed);
              cluster.run();
              ends.add(cluster.heard == null ? "dead" : String.valueOf(cluster.heard.isCreated()));
            });
    assertThat(ends).contains("true", "false", "dead");
  }

  /** Many seeds from one. */
  private static LongStream split(long seed, int count) {
    return new SplittableRandom(seed).longs(count);
  }
}
