// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.security.SecureRandom;

/** Numbers of the processes that follow one another at one place. Thread-safe. */
public final class Generations {
  private static final int RANDOM_BITS = 20;

  private long last;

  /** Above all that this has given, and those of earlier processes, as far as clocks are right. */
  public synchronized long next() {
    last = Math.max(last + 1, ofNow());
    return last;
  }

  /**
   * A time and random bits. A clock may be set back to the same millisecond, and two processes with
   * one generation would share a session: one would get answers to the other's commits.
   */
  public static long ofNow() {
    return (System.currentTimeMillis() << RANDOM_BITS)
        | new SecureRandom().nextInt(1 << RANDOM_BITS);
  }
}
