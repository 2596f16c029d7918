// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.staleness.Estimate;
import java.util.Locale;

/** Numbers with their intervals in brackets. */
final class EstimateText {
  private static final double PERCENT = 100;
  private static final double LONG_MILLIS = 100;

  private EstimateText() {}

  /** Of a probability. */
  static String percent(Estimate probability) {
    return text(probability.times(PERCENT), 3);
  }

  /** Two digits after the point, but one of what is long. */
  static String millis(Estimate millis) {
    return text(millis, millis.high() < LONG_MILLIS ? 2 : 1);
  }

  private static String text(Estimate estimate, int digits) {
    String number = "%." + digits + "f";
    return String.format(
        Locale.ROOT,
        number + " [" + number + ", " + number + "]",
        estimate.value(),
        estimate.low(),
        estimate.high());
  }
}
