// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import io.isolde.bench.kit.Pause;
import io.isolde.cluster.NodeTool;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Waits until nodes no longer compact what the last case has written. */
final class QuietNodes {
  private static final String COMPACTIONS = "org.apache.cassandra.db:type=CompactionManager";
  private static final long LOOK_MILLIS = 250;

  /** More goes on beside the next case. */
  private static final int MAX_SECONDS = 30;

  private QuietNodes() {}

  /** Waits for all of them, for a bounded time. */
  static void await(List<NodeTool> nodes) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_SECONDS);
    while (nodes.stream().anyMatch(QuietNodes::isCompacting) && System.nanoTime() - deadline < 0) {
      Pause.millis(LOOK_MILLIS);
    }
  }

  private static boolean isCompacting(NodeTool node) {
    return !((List<?>) node.attribute(COMPACTIONS, "Compactions")).isEmpty();
  }
}
