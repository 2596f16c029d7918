// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.snapshots;

import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.NodeSpec;

/**
 * Readable snapshots: the experiments of J. Polo et al., "Enabling Distributed Key-Value Stores
 * with Low Latency-Impact Snapshot Support" (NCA 2013), on one node, and what it costs to take one.
 */
public final class SnapshotsBenchmark {
  private SnapshotsBenchmark() {}

  /** Runs it. */
  public static Report run(Run run) {
    NodeSpec spec =
        NodeSpec.standard()
            .withHeapMegabytes(run.options().heapMegabytes())
            .withEphemeral(true)
            .withCassandraSetting("auto_snapshot", "false");
    try (TemporaryNode node = TemporaryNode.start("bench", spec, run.out())) {
      Report reads = new SnapshotReadsCost(node, run).report();
      Report manySnapshots = new TenSnapshots(node, run).report();
      return reads.and(manySnapshots).with(new SnapshotCreationCost(node, run).metrics());
    }
  }
}
