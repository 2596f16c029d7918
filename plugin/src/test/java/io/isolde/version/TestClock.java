// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

/** Timestamps as a test wants them: even, increasing, and not far from the wall clock. */
final class TestClock implements VersionClock {
  private volatile long latest = System.currentTimeMillis() * 1000 & ~1L;
  private volatile long lowWatermark = Long.MIN_VALUE;

  @Override
  public long latestTimestamp() {
    return latest;
  }

  @Override
  public long lowWatermark() {
    return lowWatermark;
  }

  synchronized long next() {
    latest += 2;
    return latest;
  }

  void releaseBelow(long timestamp) {
    lowWatermark = timestamp;
  }
}
