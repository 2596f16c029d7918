// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A log that a leader answers and two followers apply in its order, one of them slowly, and reads
 * of any of the three. One entry in five is a write of the row that is read.
 */
class FollowersApplyALogTest {
  private static final int VERSIONS = 40_000;
  private static final int READS = 100_000;
  private static final int ROW_ONE_IN = 5;
  private static final double INTERVAL = 40_000;
  private static final double ERROR = 0.006;

  private final RandomGenerator random = Randoms.seeded(31).get();
  private final FollowerDelays delays = new FollowerDelays(1_000_000);

  /** By entry of the row: when it was there, at the leader (0) and at the followers. */
  private final double[][] there = new double[3][VERSIONS];

  /** Until the row has all its versions: all at random, or steadily. */
  private void write(boolean isAtRandom) {
    int version = 0;
    double now = 0;
    double[] applied = new double[3];
    for (int entry = 0; version < there[0].length; entry++) {
      now += INTERVAL / ROW_ONE_IN * (isAtRandom ? random.nextExponential() : 1);
      boolean isOfRow = isAtRandom ? random.nextInt(ROW_ONE_IN) == 0 : entry % ROW_ONE_IN == 0;
      for (int replica = 0; replica < 3; replica++) {
        double wait = 12_000 * replica * random.nextExponential();
        applied[replica] = Math.max(applied[replica], now + wait);
        if (replica > 0) {
          double waited = applied[replica] - now;
          delays.record("follower " + replica, waited, waited, 0);
        }
        if (isOfRow) {
          there[replica][version] = applied[replica];
        }
      }
      version += isOfRow ? 1 : 0;
    }
  }

  /** The number of the newest version that a replica shows. */
  private int shownBy(int replica, double time) {
    int found = Arrays.binarySearch(there[replica], time);
    return found < 0 ? -found - 2 : found;
  }

  @ParameterizedTest
  @CsvSource({"1, 0", "1, 10000", "2, 0", "2, 10000", "3, 0"})
  void whenWritesComeSteadilyThenTheShareOfReadsWithinKVersionsIsAsSaid(int k, double t) {
    write(false);
    int within = 0;
    for (int i = 0; i < READS; i++) {
      int version = 10 + random.nextInt(there[0].length - 20);
      within += shownBy(random.nextInt(3), there[0][version] + t) > version - k ? 1 : 0;
    }
    Estimate said = delays.withinVersions(k, t, INTERVAL, 0);
    assertThat(said.value()).isCloseTo((double) within / READS, within(ERROR));
  }

  @Test
  void whenAllVersionsComeAtOnceThenToSeeOneOfThemIsToSeeTheLast() {
    write(false);
    assertThat(delays.withinVersions(3, 5_000, 0, 0)).isEqualTo(delays.freshAfter(5_000, 0));
  }

  @ParameterizedTest
  @CsvSource({"0", "3000", "10000", "40000"})
  void whenWritesComeAtRandomThenTheShareOfMonotonicReadsIsAsSaid(double t) {
    write(true);
    int monotonic = 0;
    double end = there[0][there[0].length - 10];
    for (int i = 0; i < READS; i++) {
      double first = (0.001 + 0.99 * random.nextDouble()) * end;
      int seen = shownBy(random.nextInt(3), first);
      monotonic += shownBy(random.nextInt(3), first + t) >= seen ? 1 : 0;
    }
    Estimate said = delays.monotonicReads(INTERVAL, t, 0);
    assertThat(said.value()).isCloseTo((double) monotonic / READS, within(ERROR));
    assertThat((double) monotonic / READS).isBetween(said.low() - ERROR, said.high() + ERROR);
  }
}
