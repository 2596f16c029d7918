// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture.reads;

import java.util.List;
import java.util.Optional;

/**
 * What came of one seed.
 *
 * @param compared how many answers were compared
 * @param trouble what kept it from being brought to its end, if something did
 * @param difference the first wrong answer, with all that led to it
 */
public record Verdict(
    long seed, int compared, Optional<String> trouble, Optional<String> difference) {

  /** All wrong answers. */
  public static List<String> differences(List<Verdict> verdicts) {
    return verdicts.stream().flatMap(verdict -> verdict.difference().stream()).toList();
  }
}
