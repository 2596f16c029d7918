// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import java.util.List;

/**
 * A phenomenon that was found.
 *
 * @param isOnlyInRealTime whether it needs that one transaction ended before another began: the
 *     level holds, but not strictly
 * @param details what shows it, a line each
 */
public record Anomaly(Phenomenon phenomenon, boolean isOnlyInRealTime, List<String> details) {
  public Anomaly {
    details = List.copyOf(details);
  }

  static Anomaly of(Phenomenon phenomenon, String... details) {
    return new Anomaly(phenomenon, false, List.of(details));
  }

  @Override
  public String toString() {
    return (isOnlyInRealTime ? "in real time, " : "")
        + phenomenon.words()
        + ":\n  "
        + String.join("\n  ", details);
  }
}
