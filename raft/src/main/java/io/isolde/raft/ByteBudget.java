// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory that several queues share: a node may have hundreds of them, and a bound for each would
 * allow all of those at once. Thread-safe.
 */
public final class ByteBudget {
  private final long maxBytes;

  /** Never above {@link #maxBytes}. */
  private final AtomicLong taken = new AtomicLong();

  /** So much, of which nothing is taken. */
  public ByteBudget(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Returns whether there was so much. */
  public boolean take(long bytes) {
    if (taken.addAndGet(bytes) > maxBytes) {
      taken.addAndGet(-bytes);
      return false;
    }
    return true;
  }

  /** Gives back what was taken. */
  public void give(long bytes) {
    long now = taken.addAndGet(-bytes);
    assert now >= 0 : "given back more than was taken";
  }
}
