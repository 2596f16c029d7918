// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import io.isolde.config.NodeClock;

/** What the version store knows of time: answered by the status oracle where there is one. */
public interface VersionClock {

  /**
   * A timestamp (microseconds) at or above that of every write which a replica has been given, and
   * at or above the time of day, since compactions drop what has expired by that.
   */
  long latestTimestamp();

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
