// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import io.isolde.cluster.ToolException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** Waiting, within bounds. */
public final class Pause {
  private static final int LOOK_MILLIS = 10;

  private Pause() {}

  /** Sleeps. */
  public static void millis(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException("The measurement was interrupted.", e);
    }
  }

  /**
   * Waits until something holds.
   *
   * @throws ToolException if it does not within that time
   */
  public static void until(String what, int seconds, BooleanSupplier holds) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    while (!holds.getAsBoolean()) {
      if (System.nanoTime() - deadline > 0) {
        throw new ToolException("Waited for %d s in vain until %s.".formatted(seconds, what));
      }
      millis(LOOK_MILLIS);
    }
  }
}
