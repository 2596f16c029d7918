// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The pause of clients whose load goes on while something else is tested. Without it, they take the
 * cores that a node needs to start, and the test takes minutes.
 */
public final class Pace {
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(40);

  private Pace() {}

  /** Waits between two requests of a client. */
  public static void pause() {
    LockSupport.parkNanos(PAUSE_NANOS);
  }
}
