// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import io.isolde.cluster.NodeTool;
import io.isolde.cluster.ToolException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Runs cases round after round, each round in another order. */
final class Rounds {
  private static final Duration ONE_SECOND = Duration.ofSeconds(1);

  /** In a row; one alone may lie between two bursts of the compiler. */
  private static final int CALM_SECONDS = 2;

  /** Of the cores, used by others: enough to make a sample doubtful. */
  private static final double NOTEWORTHY_SHARE = 0.1;

  private final BenchOptions options;
  private final CpuClock cpu;
  private final NodeCompiler compiler;
  private final PrintWriter out;

  Rounds(BenchOptions options, List<NodeTool> nodes, PrintWriter out) {
    this.options = options;
    this.cpu = CpuClock.ofNodes(nodes);
    this.compiler = new NodeCompiler(nodes);
    this.out = out;
  }

  /**
   * Warms all cases up, then measures them.
   *
   * @return by case, what was seen in each round
   * @throws ToolException if a case has a round without a single right answer
   */
  Map<String, List<Sample>> run(List<Case> cases) {
    warmUp(cases);
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    cases.forEach(each -> samples.put(each.name(), new ArrayList<>()));
    for (int round = 0; round < options.rounds(); round++) {
      for (Case each : inOrderOf(round, cases)) {
        Sample sample = measure(each);
        samples.get(each.name()).add(sample);
        show(round, each.name(), sample);
      }
    }
    return samples;
  }

  /** Every case comes first now and then, and every pair in either order. */
  static <T> List<T> inOrderOf(int round, List<T> cases) {
    List<T> order = new ArrayList<>(cases);
    Collections.rotate(order, -round);
    if (round % 2 == 1 && cases.size() > 2) { // Of two, it would undo the turn.
      Collections.reverse(order);
    }
    return order;
  }

  /**
   * Runs each case, a second at a time and with a pause for the compilers after it, until they have
   * little to do while it runs. Code that another case has warmed up may be compiled anew for this
   * one. Storms are left out: their requests are another case's.
   */
  private void warmUp(List<Case> cases) {
    say("warming up, each case for %d s at most".formatted(options.warmupSeconds()));
    for (Case each : cases) {
      int calm = 0;
      for (int second = 0; second < options.warmupSeconds() && calm < CALM_SECONDS; second++) {
        calm = isCalmFor(each) ? calm + 1 : 0;
        compiler.awaitCalm();
      }
      if (calm < CALM_SECONDS && options.warmupSeconds() >= CALM_SECONDS) {
        say("  the compilers are still busy with %s".formatted(each.name()));
      }
    }
  }

  private boolean isCalmFor(Case each) {
    each.before().run();
    NodeCompiler.Watch watch = compiler.watch();
    Measurement seen = each.load().run(options.inFlight(), ONE_SECOND);
    if (seen.errors() > 0) {
      requireAnswers(each, seen); // One that only takes long is what warming up is for.
    }
    return watch.isCalm();
  }

  private Sample measure(Case each) {
    each.before().run();
    if (each.storm().isEmpty()) {
      return measureNow(each, 0);
    }
    try (Storm storm = Storm.start(each.storm().get())) {
      Sample sample = measureNow(each, 0);
      return sample.withStorm(storm.answeredPerSecond());
    }
  }

  private Sample measureNow(Case each, double stormPerSecond) {
    NodeCompiler.Watch watch = compiler.watch();
    CpuClock.Running clock = cpu.start();
    Measurement measurement = each.load().run(options.inFlight(), options.measured());
    CpuClock.Usage used = clock.stop();
    double compilerShare = watch.share();
    requireAnswers(each, measurement);
    return new Sample(measurement, used, compilerShare, stormPerSecond);
  }

  private static void requireAnswers(Case each, Measurement measurement) {
    if (measurement.operations() == 0) {
      throw new ToolException(
          "No request of the case %s was answered rightly. The first error: %s"
              .formatted(each.name(), measurement.firstError().orElse("none; it only took long")));
    }
  }

  private void show(int round, String name, Sample sample) {
    Measurement seen = sample.measurement();
    say(
        "round %d of %d  %-28s %8.0f/s  p50 %6.2f ms  p99 %7.2f ms%s"
            .formatted(
                round + 1,
                options.rounds(),
                name,
                seen.operationsPerSecond(),
                seen.p50Millis(),
                seen.p99Millis(),
                sample.stormPerSecond() > 0
                    ? "  storm %.0f/s".formatted(sample.stormPerSecond())
                    : ""));
    if (sample.cpu().elsewhere() > NOTEWORTHY_SHARE) {
      say("  other programs used %.0f%% of the cores".formatted(100 * sample.cpu().elsewhere()));
    }
    if (seen.errors() > 0) {
      say("  %d errors, the first: %s".formatted(seen.errors(), seen.firstError().orElse("?")));
    }
  }

  private void say(String sentence) {
    out.println("  " + sentence);
    out.flush();
  }
}
