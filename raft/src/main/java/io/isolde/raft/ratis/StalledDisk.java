// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.ratis;

import java.util.concurrent.TimeUnit;

/**
 * Whether the disk of one replica's log hangs: entries wait for it, and it has finished none for a
 * while. A leader commits nothing before the entry is on its own disk, but its heartbeats need no
 * disk. So while it hangs, the leader must fall silent, or nobody would ever replace it.
 *
 * <p>Written by one thread.
 */
final class StalledDisk {
  private final long limitNanos;
  private long lastFlushed = Long.MIN_VALUE;
  private long progressNanos;
  private volatile boolean isStalled;

  /**
   * @param limitMillis how long a disk may take for one write
   */
  StalledDisk(long limitMillis) {
    this.limitNanos = TimeUnit.MILLISECONDS.toNanos(limitMillis);
  }

  /**
   * Looks.
   *
   * @param nowNanos on a clock that never goes back
   * @param awakeSinceNanos when this process came back that was suspended, or started
   * @param flushed the last entry on disk
   * @param last the last entry
   */
  void look(long nowNanos, long awakeSinceNanos, long flushed, long last) {
    if (flushed >= last || flushed != lastFlushed) {
      lastFlushed = flushed;
      progressNanos = nowNanos;
    }
    isStalled = nowNanos - progressNanos >= limitNanos && nowNanos - awakeSinceNanos >= limitNanos;
  }

  boolean isStalled() {
    return isStalled;
  }
}
