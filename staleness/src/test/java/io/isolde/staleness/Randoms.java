// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;

/** Random numbers that are the same in each run. */
final class Randoms {
  static final int TRIALS = 200_000;

  private Randoms() {}

  static Supplier<RandomGenerator> seeded(long seed) {
    return () -> RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }
}
