// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Leaders whose clocks are 15 s apart, or turned back while they lead: what is written later has
 * the greater timestamp, and so wins wherever the newest timestamp does.
 */
class SkewedClocksTest {
  private static final long SKEW_MICROS = 15_000_000;
  private static final int STEPS = 40;

  @TempDir private Path folder;

  static LongStream seeds() {
    String seed = System.getProperty("isolde.seed");
    return seed != null ? LongStream.of(Long.parseLong(seed)) : LongStream.range(0, 2);
  }

  @Test
  void whenTheNewLeadersClockIsBehindThenTheLaterWriteWinsAllTheSame() throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      nodes.skewMicros.put(0, SKEW_MICROS);
      nodes.skewMicros.put(1, -SKEW_MICROS);
      nodes.lead(0);
      long ahead = nodes.write(2, "k", "by the one that is ahead");
      nodes.lead(1);
      long behind = nodes.write(2, "k", "by the one that is behind");
      assertThat(behind).isEqualTo(ahead + LogState.STEP_MICROS);
      assertThat(nodes.read(2, "k")).isEqualTo("by the one that is behind");
      assertThat(nodes.replica(1).nextMicros()).isGreaterThan(behind);
      nodes.lead(0);
      long aheadAgain = nodes.write(2, "k", "by the first one again");
      assertThat(aheadAgain).isGreaterThan(behind);
      for (MemoryStorage storage : nodes.storages) {
        GroupNodes.await(() -> storage.applied.size() == 3);
        assertThat(storage.get("k")).isEqualTo("by the first one again");
      }
    }
  }

  @Test
  void whenTheLeadersClockIsTurnedBackThenWhatItDecidesOnIsNotAboveItsPlaceInTheLog()
      throws Exception {
    try (GroupNodes nodes = new GroupNodes(folder)) {
      ReplicaGroup leader = nodes.replica(nodes.leader());
      nodes.write(0, "k", "before");
      long decided = leader.nextMicros();
      for (int node = 0; node < GroupNodes.NODES; node++) {
        nodes.skewMicros.put(node, -SKEW_MICROS);
      }
      assertThat(nodes.write(0, "k", "as decided")).isGreaterThanOrEqualTo(decided);
      assertThat(leader.nextMicros()).isGreaterThan(decided);
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whenClocksGoWrongAndLeadersChangeThenTheLastWriteIsWhatIsReadAndReplayed(long seed)
      throws Exception {
    Random random = new Random(seed);
    try (GroupNodes nodes = new GroupNodes(folder)) {
      List<Long> timestamps = new ArrayList<>();
      int increments = 0;
      for (int step = 0; step < STEPS; step++) {
        int node = random.nextInt(GroupNodes.NODES);
        switch (random.nextInt(4)) {
          case 0 -> nodes.lead(node);
          case 1 -> nodes.skewMicros.put(node, (random.nextInt(3) - 1) * SKEW_MICROS);
          case 2 -> {
            nodes.increment(node, "n");
            increments++;
          }
          default -> {
            timestamps.add(nodes.write(node, "k", "step " + step));
            assertThat(nodes.read((node + 1) % GroupNodes.NODES, "k")).isEqualTo("step " + step);
          }
        }
      }
      String last = nodes.read(0, "k");
      int killed = nodes.leader();
      nodes.crash(killed);
      nodes.start(killed);
      assertThat(timestamps).as("seed %s", seed).isSorted().doesNotHaveDuplicates();
      String counted = increments == 0 ? "null" : Integer.toString(increments);
      assertThat(nodes.read(0, "n")).as("seed %s", seed).isEqualTo(counted);
      for (MemoryStorage storage : nodes.storages) {
        int all = timestamps.size() + increments;
        GroupNodes.await(() -> storage.applied.size() == all);
        GroupNodes.await(() -> String.valueOf(storage.get("k")).equals(last)); // replayed
        assertThat(storage.applied).isEqualTo(nodes.storages.get(0).applied);
      }
    }
  }
}
