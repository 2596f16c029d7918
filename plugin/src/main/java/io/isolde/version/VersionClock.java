// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import io.isolde.config.NodeClock;
import java.util.OptionalLong;

/** What the version store knows of time: answered by the status oracle where there is one. */
public interface VersionClock {
  /**
   * By how much (microseconds) timestamps are ahead of a node's clock at most, where the oracle
   * can't be asked: a new leader begins 3 s ahead, and its clock may be ahead of the node's.
   */
  long MAX_AHEAD_MICROS = 15_000_000;

  /**
   * A timestamp (microseconds) at or above the time of day, and at or above every write that this
   * node has heard of. The time of day counts because compactions drop what has expired by it.
   * Replicas are given writes that are a little above it, where the oracle's timestamps are ahead
   * of this node's clock.
   */
  long latestTimestamp();

  /**
   * A timestamp at or above that of every write which a replica was given before a moment of {@link
   * System#nanoTime}; empty until that is known.
   */
  default OptionalLong newestBefore(long nanoTime) {
    return OptionalLong.of(latestTimestamp());
  }

  /**
   * A timestamp above that of every write which a replica was given, and of every reader. May ask
   * others, and block for as long as they may take to answer.
   */
  default long newTimestamp() {
    return latestTimestamp() + 1;
  }

  /** No reader will ask for the past before this timestamp (microseconds). Never goes back. */
  long lowWatermark();

  /**
   * The clock of a node that has no oracle: the wall clock, and a fixed retention.
   *
   * @param retentionMicros how far back a reader may ask
   */
  static VersionClock wallClock(long retentionMicros) {
    return new VersionClock() {
      @Override
      public long latestTimestamp() {
        return NodeClock.nowMillis() * 1000;
      }

      @Override
      public long lowWatermark() {
        return latestTimestamp() - retentionMicros;
      }
    };
  }
}
