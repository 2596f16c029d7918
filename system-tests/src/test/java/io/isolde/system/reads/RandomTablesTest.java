// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.reads;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.system.ShortLived;
import io.isolde.system.SystemNode;
import io.isolde.system.TestFork;
import io.isolde.torture.reads.ClusterGround;
import io.isolde.torture.reads.Ground;
import io.isolde.torture.reads.ReadsTrial;
import io.isolde.torture.reads.Verdict;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

/**
 * Tables of every shape, small pages, and everything that counts: rows are those of a plain table,
 * on one node and where replicas have missed writes. {@code ./isolde torture --workload reads} does
 * the same for hours.
 */
class RandomTablesTest {
  private static final int ON_ONE_NODE = 10;
  private static final int ON_THREE_NODES = 4;

  @Test
  void whenThereIsOneNodeThenRowsAreThoseOfPlainTables() {
    check(new OneNodeGround(SystemNode.shared()), seeds(ON_ONE_NODE));
  }

  @Test
  void whenReplicasHaveMissedWritesThenRowsAreThoseOfPlainTables() {
    try (ClusterGround ground =
        ClusterGround.start(
            TestFork.clusters().resolve("reads"),
            3,
            ShortLived.nodeAt("127.0.67.1"),
            progress -> {})) {
      check(ground, seeds(ON_THREE_NODES));
    }
  }

  private static void check(Ground ground, long[] seeds) {
    List<Verdict> verdicts = ReadsTrial.run(ground, seeds);
    assertThat(Verdict.differences(verdicts)).isEmpty();
    // A conflict or a time-out ends a comparison early, but not all of them.
    assertThat(verdicts).anySatisfy(verdict -> assertThat(verdict.trouble()).isEmpty());
  }

  /** New ones each time; the only one if the system property {@code isolde.seed} names it. */
  private static long[] seeds(int count) {
    String only = System.getProperty("isolde.seed");
    return only != null
        ? new long[] {Long.parseLong(only)}
        : ThreadLocalRandom.current().longs(count).toArray();
  }
}
