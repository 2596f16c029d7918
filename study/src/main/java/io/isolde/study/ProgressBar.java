// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import java.util.function.Consumer;

/** Says now and then how far something is. */
final class ProgressBar {
  private static final int CELLS = 20;
  private static final int LATE_EVERY_SECONDS = 15;

  private final String what;
  private final int seconds;
  private final Consumer<String> progress;
  private int shown = -1;

  ProgressBar(String what, int seconds, Consumer<String> progress) {
    this.what = what;
    this.seconds = seconds;
    this.progress = progress;
  }

  /** So many seconds have passed; a line for each quarter, and now and then after the end. */
  void at(int second) {
    if (second > seconds) {
      if ((second - seconds) % LATE_EVERY_SECONDS == 1) {
        progress.accept("%s goes on, %d s until now".formatted(what, second));
      }
      return;
    }
    int quarter = 4 * second / seconds;
    if (quarter > shown) {
      shown = quarter;
      int full = CELLS * second / seconds;
      progress.accept(
          "[%s%s] %s, %d s left"
              .formatted("#".repeat(full), ".".repeat(CELLS - full), what, seconds - second));
    }
  }
}
