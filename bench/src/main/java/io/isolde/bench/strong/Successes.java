// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.strong;

import io.isolde.bench.kit.Workload;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;

/** How many requests succeed in each step of a measurement. Thread-safe. */
final class Successes {
  private final double stepSeconds;
  private final LongAdder[] steps;
  private final long startNanos = System.nanoTime();

  /** It starts now; what succeeds after the last step is not counted. */
  Successes(int steps, double stepSeconds) {
    this.stepSeconds = stepSeconds;
    this.steps = IntStream.range(0, steps).mapToObj(i -> new LongAdder()).toArray(LongAdder[]::new);
  }

  /** Returns the same requests; each that succeeds is counted here. */
  Workload watched(Workload workload) {
    return () -> workload.send().whenComplete((done, error) -> count(error));
  }

  private void count(Throwable error) {
    int step = (int) ((System.nanoTime() - startNanos) / 1e9 / stepSeconds);
    if (error == null && step < steps.length) {
      steps[step].increment();
    }
  }

  /** Of each step. */
  List<Double> perSecond() {
    return Arrays.stream(steps).map(step -> step.sum() / stepSeconds).toList();
  }
}
