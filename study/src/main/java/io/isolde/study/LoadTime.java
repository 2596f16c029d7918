// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import java.util.function.BooleanSupplier;

/**
 * For how long clients go on.
 *
 * @param seconds at least
 * @param mostSeconds at most
 * @param isDone whether they need not go on after the least time
 */
record LoadTime(int seconds, int mostSeconds, BooleanSupplier isDone) {
  static LoadTime of(int seconds) {
    return new LoadTime(seconds, seconds, () -> true);
  }

  /** Whether there is one more second after so many. */
  boolean goesOnAfter(int second) {
    return second < seconds || (second < mostSeconds && !isDone.getAsBoolean());
  }
}
