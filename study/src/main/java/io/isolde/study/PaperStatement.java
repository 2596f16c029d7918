// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import io.isolde.study.Results.Latency;
import io.isolde.study.Results.SettingResult;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * What the paper says of how many times slower one setting is than another, and what was found.
 *
 * @param times as the paper has it, by means
 * @param means the ratio of the means that were measured
 * @param medians likewise
 */
record PaperStatement(String what, double times, double means, double medians) {
  /** By so much the ratio may be off, either way, and still be the paper's. */
  private static final double TOLERANCE = 1.25;

  private static final Function<SettingResult, Latency> READ = SettingResult::read;
  private static final Function<SettingResult, Latency> WRITE = SettingResult::write;

  /** Those of which both settings were measured. */
  static List<PaperStatement> of(List<SettingResult> settings) {
    Finder finder = new Finder(settings);
    return List.of(
            finder.find("writes, R=1 W=3 against R=3 W=1", 9.4, "R1W3", "R3W1", WRITE),
            finder.find("reads, R=3 W=1 against R=1 W=3", 2.4, "R3W1", "R1W3", READ),
            finder.find("writes, W=2 against W=1 (R=1)", 3.5, "R1W2", "R1W1", WRITE),
            finder.find("reads, R=2 against R=1 (W=1)", 1.7, "R2W1", "R1W1", READ))
        .stream()
        .flatMap(Optional::stream)
        .toList();
  }

  /** In size, in kind only, or not at all; means and medians must agree on it. */
  String verdict() {
    if (Math.min(means, medians) <= 1) {
      return "not confirmed";
    }
    if (isAsThePapers(means) && isAsThePapers(medians)) {
      return "confirmed";
    }
    return Math.min(means, medians) > times ? "confirmed, by more" : "confirmed in kind only";
  }

  private boolean isAsThePapers(double ratio) {
    return ratio >= times / TOLERANCE && ratio <= times * TOLERANCE;
  }

  private record Finder(List<SettingResult> settings) {
    Optional<PaperStatement> find(
        String what,
        double times,
        String slower,
        String faster,
        Function<SettingResult, Latency> operation) {
      return named(slower)
          .map(operation)
          .flatMap(
              slow ->
                  named(faster)
                      .map(operation)
                      .filter(fast -> fast.mean() > 0 && fast.p50() > 0)
                      .map(
                          fast ->
                              new PaperStatement(
                                  what,
                                  times,
                                  slow.mean() / fast.mean(),
                                  slow.p50() / fast.p50())));
    }

    private Optional<SettingResult> named(String name) {
      return settings.stream().filter(each -> each.name().equals(name)).findFirst();
    }
  }
}
