// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Says whether a line that can repeat is to be logged now: each at most once a minute, so that what
 * goes wrong again and again neither fills the log nor costs a busy node its time. Thread-safe.
 */
public final class LogLimit {
  private static final long INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final int REMEMBERED_LINES = 1000;

  private final LongSupplier nanoTime;

  /** When a line was last logged; guarded by itself, the oldest make room. */
  private final Map<Object, Long> loggedNanos =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Object, Long> eldest) {
          return size() > REMEMBERED_LINES;
        }
      };

  public LogLimit() {
    this(System::nanoTime);
  }

  LogLimit(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
  }

  /**
   * Returns whether it is time for a line.
   *
   * @param line what makes lines the same: a text, an address, or a list of both
   */
  public boolean allows(Object line) {
    long now = nanoTime.getAsLong();
    synchronized (loggedNanos) {
      Long last = loggedNanos.get(line);
      if (last != null && now - last < INTERVAL_NANOS) {
        return false;
      }
      loggedNanos.remove(line);
      loggedNanos.put(line, now);
      return true;
    }
  }
}
