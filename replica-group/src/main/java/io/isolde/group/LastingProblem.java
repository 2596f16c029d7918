// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Tells a problem that passes from one that makes this member useless as a leader. */
final class LastingProblem {
  private static final long MAX_MILLIS = 2_000;
  private static final long NONE = 0;

  /** When somebody first saw the problem that there is now: an odd number. */
  private final AtomicLong sinceNanos = new AtomicLong(NONE);

  /**
   * Whether there has been a problem for too long.
   *
   * @param isThere whether there is one now
   */
  boolean lasts(boolean isThere, long nowNanos) {
    if (!isThere) {
      sinceNanos.set(NONE);
      return false;
    }
    long now = nowNanos | 1;
    long since = sinceNanos.compareAndExchange(NONE, now);
    return since != NONE && now - since >= TimeUnit.MILLISECONDS.toNanos(MAX_MILLIS);
  }
}
