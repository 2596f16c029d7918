// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.isolde.bench.nodes.ChildControl;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.util.Map;

/** A ZooKeeper server as a child process, on the class path of ZooKeeper, not of this module. */
final class ZooKeeperMain {
  static final String LIVE_HEAP_BYTES = "live-heap-bytes";
  private static final int COLLECTIONS = 3;

  private ZooKeeperMain() {}

  /** Argument: the file with its settings. */
  public static void main(String[] arguments) throws ReflectiveOperationException {
    ChildControl.start(Map.of(LIVE_HEAP_BYTES, unused -> liveHeapBytes()));
    Class.forName("org.apache.zookeeper.server.quorum.QuorumPeerMain")
        .getMethod("main", String[].class)
        .invoke(null, (Object) arguments);
  }

  private static long liveHeapBytes() {
    MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
    long least = Long.MAX_VALUE;
    for (int i = 0; i < COLLECTIONS; i++) {
      memory.gc();
      least = Math.min(least, memory.getHeapMemoryUsage().getUsed());
    }
    return least;
  }
}
