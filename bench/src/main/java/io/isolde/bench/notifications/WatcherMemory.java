// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Spread;
import io.isolde.cluster.NodeTool;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/** What a server's heap has more, after a collection, for each watcher that waits for a change. */
final class WatcherMemory {
  private static final int TIMES = 3;

  /** Of so many together, what else a heap has or has not is a small part. */
  private static final int MANY = 5_000;

  private static final int COLLECTIONS = 3;

  /** Longer than the five seconds after which a node tells positions. */
  private static final long CALM_MILLIS = 7_000;

  private WatcherMemory() {}

  /** Connects the watchers of a case and disconnects them, a few times unless they are many. */
  static double bytesPerWatcher(WatchCase watching, int watchers, LongSupplier liveHeapBytes) {
    List<Double> bytes = new ArrayList<>();
    int times = watchers < MANY ? TIMES : 1;
    for (int i = 0; i < times; i++) {
      watching.close();
      Pause.millis(CALM_MILLIS);
      long without = liveHeapBytes.getAsLong();
      watching.open();
      Pause.millis(CALM_MILLIS);
      bytes.add((double) (liveHeapBytes.getAsLong() - without) / watchers);
    }
    watching.close();
    return Spread.median(bytes);
  }

  /** Of a node. */
  static long liveHeapBytes(NodeTool node) {
    long least = Long.MAX_VALUE;
    for (int i = 0; i < COLLECTIONS; i++) {
      node.collectHeapGarbage();
      least = Math.min(least, node.usedHeapBytes());
    }
    return least;
  }
}
