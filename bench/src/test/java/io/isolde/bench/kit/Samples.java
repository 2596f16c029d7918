// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import java.util.Optional;

/** Made-up samples. */
final class Samples {
  private Samples() {}

  static Sample of(double operationsPerSecond) {
    Measurement measurement =
        new Measurement(
            (long) operationsPerSecond, operationsPerSecond, 1.5, 1.25, 7.125, 2, Optional.empty());
    return new Sample(measurement, new CpuClock.Usage(1_000_000, 500_000, 0, 2000, 1000, 0.02), 0);
  }
}
