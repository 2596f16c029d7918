// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.util.OptionalLong;

/** The newest timestamp in use, as far as the oracle's answers tell. Immutable. */
final class NewestHeard {
  private static final NewestHeard NOTHING = new NewestHeard(0, false, 0);

  private final long timestamp;
  private final boolean isProven;
  private final long askedNanos;

  private NewestHeard(long timestamp, boolean isProven, long askedNanos) {
    this.timestamp = timestamp;
    this.isProven = isProven;
    this.askedNanos = askedNanos;
  }

  static NewestHeard nothing() {
    return NOTHING;
  }

  long timestamp() {
    return timestamp;
  }

  /**
   * With another answer; they may come in another order than they were asked for.
   *
   * @param isFromLeader whether who answered is known to have led after it was asked
   */
  NewestHeard and(long heard, long whenAskedNanos, boolean isFromLeader) {
    boolean isLater = isFromLeader && (!isProven || whenAskedNanos - askedNanos > 0);
    return new NewestHeard(
        Math.max(timestamp, heard),
        isProven || isFromLeader,
        isLater ? whenAskedNanos : askedNanos);
  }

  /** At or above all that were given out before then; empty unless it was asked for afterwards. */
  OptionalLong askedAfter(long nanoTime) {
    return isProven && askedNanos - nanoTime > 0
        ? OptionalLong.of(timestamp)
        : OptionalLong.empty();
  }
}
