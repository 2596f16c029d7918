// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.strong;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.NodeSpec;

/**
 * A strong keyspace of six groups on three nodes: requests of clients that know the leaders,
 * against requests to any node, as in section 6.9 of the thesis on replicated LSM trees.
 */
public final class RoutingBenchmark {
  private static final int NODES = 3;
  private static final int GROUPS = 6;

  /** Enough ranges for the groups. */
  private static final int TOKENS = 8;

  private static final int MAX_HEAP_MEGABYTES = 1024;

  private RoutingBenchmark() {}

  /** Runs it. */
  public static Report run(Run run) {
    BenchOptions options = run.options();
    NodeSpec spec = TemporaryNode.spec(options.withHeapUpTo(MAX_HEAP_MEGABYTES)).withTokens(TOKENS);
    try (TemporaryNode cluster = TemporaryNode.start("routing", NODES, spec, run.out());
        CqlSession routing = cluster.connectRouted()) {
      RowTable any = RowTable.createStrong(cluster, "strong", "periodic", GROUPS, options).load();
      RowTable routed = any.over(routing, options);
      cluster
          .session()
          .execute("SELECT group_number, leader FROM isolde.replica_groups")
          .forEach(
              group ->
                  run.say("  group %d: %s leads".formatted(group.getInt(0), group.getString(1))));
      return run.measure(
          cluster.tools(),
          new Cases()
              .add("any_node_read", any.reads())
              .add("routed_read", routed.reads())
              .add("any_node_write", any.updates())
              .add("routed_write", routed.updates())
              .ratio("routed_read_vs_any", "routed_read", "any_node_read")
              .ratio("routed_write_vs_any", "routed_write", "any_node_write"));
    }
  }
}
