// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.util.OptionalLong;

/** The newest timestamp in use, as far as the oracle's answers tell. Immutable. */
final class NewestHeard {
  private static final NewestHeard NOTHING = new NewestHeard(0, 0);

  private final long timestamp;
  private final long askedNanos;

  private NewestHeard(long timestamp, long askedNanos) {
    this.timestamp = timestamp;
    this.askedNanos = askedNanos;
  }

  static NewestHeard nothing() {
    return NOTHING;
  }

  long timestamp() {
    return timestamp;
  }

  /** Of answers that may come in another order than they were asked for. */
  NewestHeard and(long heard, long whenAskedNanos) {
    boolean isLater = this == NOTHING || whenAskedNanos - askedNanos > 0;
    return new NewestHeard(Math.max(timestamp, heard), isLater ? whenAskedNanos : askedNanos);
  }

  /** At or above all that were given out before then; empty unless it was asked for afterwards. */
  OptionalLong askedAfter(long nanoTime) {
    return this != NOTHING && askedNanos - nanoTime > 0
        ? OptionalLong.of(timestamp)
        : OptionalLong.empty();
  }
}
