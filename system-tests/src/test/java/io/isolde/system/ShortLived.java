// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import io.isolde.cluster.NodeSpec;

/** What the nodes of tests have in common. */
public final class ShortLived {
  private ShortLived() {}

  /**
   * A small node that keeps nothing on a disk. Compiled quickly rather than well, which halves what
   * it takes to start. What a small node needs while it waits is made small, too: its collector has
   * no threads of its own, and its cheap clock ticks each 10 ms.
   */
  public static NodeSpec nodeAt(String address) {
    return NodeSpec.standard()
        .withAddress(address)
        .withHeapMegabytes(512)
        .withEphemeral(true)
        .withJvmOption("-XX:TieredStopAtLevel=1")
        .withJvmOption("-XX:-UseG1GC")
        .withJvmOption("-XX:+UseSerialGC")
        .withSystemProperty("cassandra.approximate_time_precision_ms", "10");
  }
}
