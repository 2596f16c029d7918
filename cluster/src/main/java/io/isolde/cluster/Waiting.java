// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import io.isolde.cluster.ClusterException.Reason;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/** Bounded waiting for something that is not told and must be asked for. */
final class Waiting {

  private static final long POLL_MILLIS = 50;

  private Waiting() {}

  /** Returns whether the condition came true within the bound. */
  static boolean until(Duration bound, BooleanSupplier condition) {
    long start = System.nanoTime();
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() - start > bound.toNanos()) {
        return false;
      }
      sleep();
    }
    return true;
  }

  private static void sleep() {
    try {
      Thread.sleep(POLL_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ClusterException(Reason.INTERRUPTED, "The waiting thread was interrupted.", e);
    }
  }
}
