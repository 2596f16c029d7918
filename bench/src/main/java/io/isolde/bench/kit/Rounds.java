// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import io.isolde.cluster.ToolException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/** Runs cases round after round, each round in another order. */
public final class Rounds {
  private static final Duration ONE_SECOND = Duration.ofSeconds(1);

  /** In a row; one alone may lie between two bursts of the compiler. */
  private static final int CALM_SECONDS = 2;

  /** Of the cores, used by others: enough to make a sample doubtful. */
  private static final double NOTEWORTHY_SHARE = 0.1;

  private final Run run;
  private final BenchOptions options;
  private final Processes processes;

  /** Rounds in which these processes do the work. */
  public Rounds(Run run, Processes processes) {
    this.run = run;
    this.options = run.options();
    this.processes = processes;
  }

  /**
   * Warms all cases up, then measures them.
   *
   * @return by case, what was seen in each round
   * @throws ToolException if a case has a round without a single right answer
   */
  public Map<String, List<Sample>> run(List<Case> cases) {
    warmUp(cases);
    return measure(round -> inOrderOf(round, cases));
  }

  /** Measures without warming up, as {@link #run}; each round has an order of its own. */
  public Map<String, List<Sample>> measure(IntFunction<List<Case>> cases) {
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    cases.apply(0).forEach(each -> samples.put(each.name(), new ArrayList<>()));
    for (int round = 0; round < options.rounds(); round++) {
      for (Case each : cases.apply(round)) {
        Sample sample = measure(each);
        samples.get(each.name()).add(sample);
        show(round, each.name(), sample);
      }
    }
    return samples;
  }

  /** Every case comes first now and then, and every pair in either order. */
  public static <T> List<T> inOrderOf(int round, List<T> cases) {
    List<T> order = new ArrayList<>(cases);
    Collections.rotate(order, -round);
    if (round % 2 == 1 && cases.size() > 2) { // Of two, it would undo the rotation.
      Collections.reverse(order);
    }
    return order;
  }

  /**
   * Runs each case, a second at a time and with a pause for the compilers after it. That goes on
   * until the compilers have little to do while the case runs. Code that another case has warmed up
   * may be compiled anew for this one. Storms are left out: their requests are another case's.
   */
  private void warmUp(List<Case> cases) {
    say("warming up, each case for %d s at most".formatted(options.warmupSeconds()));
    for (Case each : cases) {
      int calm = 0;
      for (int second = 0; second < options.warmupSeconds() && calm < CALM_SECONDS; second++) {
        calm = isCalmFor(each) ? calm + 1 : 0;
        processes.awaitCalm();
      }
      if (calm < CALM_SECONDS && options.warmupSeconds() >= CALM_SECONDS) {
        say("  the compilers are still busy with %s".formatted(each.name()));
      }
    }
  }

  private boolean isCalmFor(Case each) {
    each.before().run();
    CpuClock clock = new CpuClock(processes);
    Measurement seen = each.load().run(options.inFlight(), ONE_SECOND);
    if (seen.errors() > 0) {
      requireAnswers(each, seen); // One that only takes long is what warming up is for.
    }
    return clock.compilerShare() < Processes.CALM_SHARE;
  }

  /** Runs one case after the other, a second each, for as long as the options say in all. */
  public void warmUpAlternating(List<Case> cases) {
    say("warming up for %d s, and what the compilers need".formatted(options.warmupSeconds()));
    for (int second = 0; second < options.warmupSeconds(); second++) {
      Case each = cases.get(second % cases.size());
      requireAnswers(each, each.load().run(options.inFlight(), ONE_SECOND));
      processes.awaitCalm();
    }
  }

  private Sample measure(Case each) {
    each.before().run();
    if (each.storm().isEmpty()) {
      return measureNow(each);
    }
    try (Storm storm = Storm.start(each.storm().get())) {
      Sample sample = measureNow(each);
      return new Sample(sample.measurement(), sample.cpu(), storm.answeredPerSecond());
    }
  }

  private Sample measureNow(Case each) {
    CpuClock clock = new CpuClock(each.processes().orElse(processes));
    Measurement measurement = each.load().run(options.inFlight(), options.measured());
    CpuClock.Usage used = clock.stop();
    requireAnswers(each, measurement);
    return new Sample(measurement, used, 0);
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
    String storm =
        sample.stormPerSecond() > 0 ? "  storm %.0f/s".formatted(sample.stormPerSecond()) : "";
    say(
        "round %d of %d  %-28s %8.0f/s  p50 %6.2f ms  p99 %7.2f ms%s"
            .formatted(
                round + 1,
                options.rounds(),
                name,
                seen.operationsPerSecond(),
                seen.p50Millis(),
                seen.p99Millis(),
                storm));
    if (sample.cpu().elsewhere() > NOTEWORTHY_SHARE) {
      say("  other programs used %.0f%% of the cores".formatted(100 * sample.cpu().elsewhere()));
    }
    if (seen.errors() > 0) {
      say("  %d errors, the first: %s".formatted(seen.errors(), seen.firstError().orElse("?")));
    }
  }

  private void say(String sentence) {
    run.say("  " + sentence);
  }
}
