// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness.collect;

/**
 * Which messages are timed: those whose id's hash begins with enough zeros. All nodes agree on
 * them, and what a node with a smaller rate samples is part of what the others do.
 */
final class Sampling {
  /** 2^64 divided by the golden ratio: ids that count up are spread evenly (Knuth 6.4). */
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private final long mask;

  /** Samples one of so many messages: a power of two. */
  Sampling(int oneIn) {
    this.mask = oneIn == 1 ? 0 : -1L << (Long.SIZE - Integer.numberOfTrailingZeros(oneIn));
  }

  boolean includes(long id) {
    return (id * GOLDEN & mask) == 0;
  }
}
