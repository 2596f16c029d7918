// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** One seed again: -Disolde.seed=17; many more: -Disolde.seeds=100000. */
class SimulationTest {
  private static final int SEEDS = Integer.getInteger("isolde.seeds", 2_000);
  private static final Long SEED = Long.getLong("isolde.seed");

  /** In which a planted mistake must show. */
  private static final int MAX_SEEDS_OF_A_MISTAKE = 300;

  private static String failureOf(long seed, Mistake mistake) {
    try {
      new Simulation(seed, mistake).run();
      return null;
    } catch (AssertionError e) {
      return e.getMessage();
    }
  }

  @Test
  void whenNodesAndConnectionsDieThenEachCommitIsHeardOnceAndInOrder() {
    LongAdder lost = new LongAdder();
    LongAdder moves = new LongAdder();
    (SEED == null ? LongStream.rangeClosed(1, SEEDS) : LongStream.of(SEED))
        .parallel()
        .mapToObj(SimulationTest::simulated)
        .forEach(
            simulation -> {
              lost.add(simulation.lost);
              moves.add(simulation.moves);
            });
    assertThat(moves.sum()).as("moves").isPositive();
    assertThat(SEED != null || lost.sum() > 0).as("some clients were away for too long").isTrue();
  }

  private static Simulation simulated(long seed) {
    Simulation simulation = new Simulation(seed, Mistake.NONE);
    try {
      simulation.run();
    } catch (AssertionError | RuntimeException e) {
      throw new AssertionError("Seed " + seed + ": " + e.getMessage(), e);
    }
    return simulation;
  }

  @ParameterizedTest
  @CsvSource({
    "RESUMES_FROM_NOW, commits from",
    "TWO_BEGINNINGS, commits from",
    "SKIPS_ONE, commits from",
    "HEARS_TWICE, commits from",
    "REORDERS, commits from",
    "NOBODY_SHARES, storm",
    "NEVER_CONTENT, storm",
    "FLOODS, flood",
  })
  void whenAMistakeIsPlantedThenItIsFound(Mistake mistake, String failure) {
    for (long seed = 1; seed <= MAX_SEEDS_OF_A_MISTAKE; seed++) {
      String found = failureOf(seed, mistake);
      if (found != null && found.contains(failure)) {
        return;
      }
    }
    throw new AssertionError(mistake + " does not show in " + MAX_SEEDS_OF_A_MISTAKE + " seeds.");
  }
}
