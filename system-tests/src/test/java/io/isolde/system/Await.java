// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import com.datastax.oss.driver.api.core.DriverException;
import io.isolde.cluster.ClusterException;
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
   * Waits until something holds; fails if it does not in three minutes. A node that can't be asked
   * does not hold it yet.
   *
   * @param what it is, in words
   */
  public static void until(String what, BooleanSupplier holds) {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    RuntimeException last = null;
    while (System.nanoTime() <= deadline) {
      try {
        if (holds.getAsBoolean()) {
          return;
        }
      } catch (DriverException | ClusterException e) {
        last = e;
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
    throw new NotInTimeError(what, last);
  }
}
