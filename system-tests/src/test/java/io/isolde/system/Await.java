// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what must come true before long. */
public final class Await {
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  private Await() {}

  /**
   * Waits until something holds; fails if it does not in three minutes.
   *
   * @param what it is, in words
   */
  public static void until(String what, BooleanSupplier holds) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!holds.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("Waited in vain until " + what + ".");
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }
}
