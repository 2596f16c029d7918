// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

/**
 * What each node has of the machine in {@code leadership}, once it is warm, so that it is as on a
 * machine of its own: what one node does is not at the cost of the others.
 *
 * @param cores how many of the processors. Default 0: all. With all nodes together below what the
 *     machine has, each is as on a machine of its own. Too small: heartbeats come late, and leaders
 *     change for that.
 * @param diskMegabytesPerSecond of a disk of its own, for reads, and as many for writes. Default 0:
 *     all nodes use the disk of the machine. Too small: flushes can't follow the writes.
 */
public record NodeShare(double cores, int diskMegabytesPerSecond) {
  /** Nodes share all that there is. */
  public static final NodeShare ALL = new NodeShare(0, 0);

  /** No node starts to answer with less. */
  private static final double LEAST_CORES = 0.1;

  public NodeShare {
    if (cores != 0 && !(cores >= LEAST_CORES)) {
      throw new IllegalArgumentException(
          "The cores of a node are %s, but must be at least %s, or 0 for all."
              .formatted(cores, LEAST_CORES));
    }
    if (diskMegabytesPerSecond < 0) {
      throw new IllegalArgumentException(
          "The MB per second of a node's disk are %d, but must be at least 1, or 0 for no limit."
              .formatted(diskMegabytesPerSecond));
    }
  }

  /** Whether each node has a disk of its own. */
  public boolean hasDisk() {
    return diskMegabytesPerSecond > 0;
  }
}
