// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The replicated oracle among faults of every kind. A failing run names its seed and repeats with
 * {@code -Disolde.seed=…}; {@code -Disolde.seeds=…} runs more of them.
 */
class ReplicaSimulationTest {
  private static final int SEEDS = Integer.getInteger("isolde.seeds", 3_000);

  /** Within so many runs each mistake must show. */
  private static final int SEEDS_PER_MUTATION = 1_000;

  @Test
  void whenAnythingFailsThenEveryInvariantHolds() {
    Happening.Counts counts = new Happening.Counts();
    long began = System.nanoTime();
    seeds()
        .parallel()
        .mapToObj(seed -> ReplicaSimulation.run(seed, Mutation.NONE))
        .forEachOrdered(counts::addAll);
    long millis = (System.nanoTime() - began) / 1_000_000;
    System.out.println("Simulated for " + millis + " ms: " + counts.all());
    if (System.getProperty("isolde.seed") == null && SEEDS >= 1_000) {
      assertThat(counts.all()).allSatisfy((happening, count) -> assertThat(count).isPositive());
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void whenAMistakeIsMadeThenAnInvariantNoticesIt(Mutation mutation) {
    LongStream noticed =
        LongStream.range(0, SEEDS_PER_MUTATION).filter(seed -> isNoticed(seed, mutation)).limit(1);
    assertThat(noticed.findFirst()).as("a seed that shows %s", mutation).isPresent();
  }

  @Test
  void whenASeedIsRunAgainThenTheSameHappens() {
    assertThat(ReplicaSimulation.run(17, Mutation.NONE).all())
        .isEqualTo(ReplicaSimulation.run(17, Mutation.NONE).all());
  }

  private static boolean isNoticed(long seed, Mutation mutation) {
    try {
      ReplicaSimulation.run(seed, mutation);
      return false;
    } catch (AssertionError e) {
      return true;
    }
  }

  /** Some that are always the same, and some that are always new. */
  private static LongStream seeds() {
    String only = System.getProperty("isolde.seed");
    if (only != null) {
      return LongStream.of(Long.parseLong(only));
    }
    long fresh = System.nanoTime();
    return LongStream.concat(
        LongStream.range(0, SEEDS / 2), LongStream.range(fresh, fresh + SEEDS - SEEDS / 2));
  }
}
