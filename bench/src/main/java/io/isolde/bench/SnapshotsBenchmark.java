// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.util.List;

/**
 * Readable snapshots: the experiments of J. Polo et al., "Enabling Distributed Key-Value Stores
 * with Low Latency-Impact Snapshot Support" (NCA 2013), on one node, and what it costs to take one.
 */
final class SnapshotsBenchmark implements Benchmark {
  @Override
  public String name() {
    return "snapshots";
  }

  @Override
  public String summary() {
    return "what snapshots cost live reads and writers, how fast they are read and taken";
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    NodeSpec spec =
        NodeSpec.standard()
            .withHeapMegabytes(options.heapMegabytes())
            .withEphemeral(true)
            .withCassandraSetting("auto_snapshot", "false");
    try (TemporaryNode node = TemporaryNode.start("bench", spec, out);
        CqlSession session = node.connect();
        NodeTool tool = node.node().nodeTool()) {
      Report reads = new SnapshotReadsCost(session, tool, options, out).run(name());
      Report manySnapshots = new TenSnapshots(session, tool, options, out).run(name());
      return reads
          .and(manySnapshots)
          .with(new SnapshotCreationCost(session, tool, options, out).run());
    }
  }

  @Override
  public List<Figure> figures(Report report) {
    return SnapshotFigures.of(report);
  }
}
