// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/** For what another thread of this node is about to do. */
final class ShortWait {
  private static final long LOOK_MILLIS = 10;

  private ShortWait() {}

  /**
   * Returns what is looked for, as soon as it is there. Blocks.
   *
   * @param isComing whether there is a point in waiting
   * @param maxMillis for how long at most
   */
  static <T> Optional<T> until(
      Supplier<Optional<T>> look, BooleanSupplier isComing, long maxMillis) {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(maxMillis);
    Optional<T> found = look.get();
    try {
      while (found.isEmpty() && isComing.getAsBoolean() && System.nanoTime() < deadlineNanos) {
        Thread.sleep(LOOK_MILLIS);
        found = look.get();
      }
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
    return found;
  }
}
