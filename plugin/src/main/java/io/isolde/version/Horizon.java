// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The oldest timestamp (microseconds) as of which a replica can vouch for its answers about one
 * table. It only ever rises: when the table becomes transactional, when the node starts, and when
 * versions are given up.
 */
public final class Horizon {
  private final AtomicLong timestamp = new AtomicLong(Long.MIN_VALUE);

  /** No reader below {@code candidate} can be served any more. */
  public void raise(long candidate) {
    timestamp.accumulateAndGet(candidate, Math::max);
  }

  public long timestamp() {
    return timestamp.get();
  }

  public boolean covers(long asOf) {
    return asOf >= timestamp.get();
  }

  /**
   * To be called <em>after</em> the versions of a read were collected: what was evicted before that
   * has raised the horizon already.
   *
   * @throws SnapshotTooOldException if this replica cannot vouch for an answer as of {@code asOf}
   */
  void check(long asOf) {
    long now = timestamp.get();
    if (asOf < now) {
      throw new SnapshotTooOldException(asOf, now);
    }
  }
}
