// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import io.isolde.testing.CassandraInProcess;
import java.util.OptionalLong;

/** Timestamps as a test wants them: even, increasing, and not far from the wall clock. */
final class TestClock implements VersionClock {
  private volatile long latest = System.currentTimeMillis() * 1000 & ~1L;
  private volatile long lowWatermark = Long.MIN_VALUE;

  /** What this node has heard of, while timestamps run ahead; 0 if it hears of all at once. */
  private volatile long heard;

  /** Starts Cassandra, and has this node go by a new clock from now on. */
  static TestClock ofThisNode() {
    CassandraInProcess.start();
    TestClock clock = new TestClock();
    NodeVersions.ofThisNode().useClock(clock, clock.latestTimestamp());
    return clock;
  }

  @Override
  public long latestTimestamp() {
    return heard == 0 ? latest : heard;
  }

  @Override
  public OptionalLong newestBefore(long nanoTime) {
    return heard == 0 ? OptionalLong.of(latest) : OptionalLong.empty();
  }

  /** From now on this node does not hear of timestamps that are given out. */
  void lagBehind() {
    heard = latest;
  }

  void catchUp() {
    heard = 0;
  }

  @Override
  public long lowWatermark() {
    return lowWatermark;
  }

  synchronized long next() {
    latest += 2;
    return latest;
  }

  /** Also those that this node has not heard of. */
  @Override
  public long newTimestamp() {
    return next();
  }

  void releaseBelow(long timestamp) {
    lowWatermark = timestamp;
  }
}
