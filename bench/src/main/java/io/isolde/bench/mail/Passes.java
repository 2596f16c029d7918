// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Processes;
import io.isolde.bench.kit.Run;
import java.time.Duration;
import java.util.List;

/**
 * The warm-up. Each pass goes through all cases, so that all have had as much at its end. There are
 * too many processes to wait until the compilers of all are quiet.
 */
record Passes(Run run, Processes everything) {
  private static final int PASSES = 2;

  /** Runs each case for so many seconds in all. */
  void warmUp(List<Case> cases, int seconds) {
    run.say("  warming up, each case for %d s".formatted(seconds));
    for (int pass = 0; pass < PASSES && seconds >= PASSES; pass++) {
      for (Case each : cases) {
        var seen = each.load().run(run.options().inFlight(), Duration.ofSeconds(seconds / PASSES));
        run.say("    %-36s %8.1f/s".formatted(each.name(), seen.operationsPerSecond()));
        everything.awaitCalm();
      }
    }
  }
}
