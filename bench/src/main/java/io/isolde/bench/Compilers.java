// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** The just-in-time compilers of processes and of this one; as {@link NodeCompiler}. */
final class Compilers {
  private static final long LOOK_MILLIS = 250;
  private static final double CALM_SHARE = 0.1;
  private static final int CALM_LOOKS = 2;
  private static final long MAX_PAUSE_SECONDS = 5;

  private Compilers() {}

  /** Waits until all of them have little left to do, for some seconds at most. */
  static void awaitCalm(List<ChildProcess> processes) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_PAUSE_SECONDS);
    int calm = 0;
    while (calm < CALM_LOOKS && System.nanoTime() - deadline < 0) {
      long before = millis(processes);
      Pause.millis(LOOK_MILLIS);
      calm = millis(processes) - before < CALM_SHARE * LOOK_MILLIS ? calm + 1 : 0;
    }
  }

  private static long millis(List<ChildProcess> processes) {
    return ManagementFactory.getCompilationMXBean().getTotalCompilationTime()
        + processes.stream().mapToLong(ChildProcess::compilerMillis).sum();
  }
}
