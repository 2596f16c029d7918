// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.transactions;

import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Benchmark;
import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;

/**
 * Statements with IF on a transactional table, beside lightweight transactions on a plain one: on
 * many rows, one at a time, and on few rows that all clients want.
 */
public final class ConditionsBenchmark {
  private static final int HOT_ROWS = 4;
  private static final int AT_HOT_ROWS = 16;

  private ConditionsBenchmark() {}

  /** The benchmark on so many nodes. */
  public static Benchmark.Part onNodes(int nodes) {
    return run -> run(nodes, run);
  }

  private static Report run(int nodes, Run run) {
    run.say("Cassandra with Isolde, %d nodes".formatted(nodes));
    BenchOptions options = run.options().onNodes(nodes);
    try (TemporaryNode cluster =
        TemporaryNode.start("bench", nodes, TemporaryNode.spec(options), run.out())) {
      BenchOptions hot = options.withRows(HOT_ROWS, options.rowBytes());
      RowTable plain = RowTable.create(cluster, "plain", options).load();
      RowTable ours = RowTable.createTransactional(cluster, "transactional", options).load();
      RowTable hotPlain = RowTable.create(cluster, "hot_plain", hot).load();
      RowTable hotOurs = RowTable.createTransactional(cluster, "hot", hot).load();
      cluster.flush(RowTable.KEYSPACE);
      String suffix = "_%dn".formatted(nodes);
      Cases cases = new Cases();
      addPair(cases, "update", suffix, plain, ours);
      addPair(cases, "hot_update", suffix, hotPlain, hotOurs);
      return run.reportWithCpu(run.samples(cluster.tools(), cases), cases.ratios());
    }
  }

  private static void addPair(
      Cases cases, String name, String suffix, RowTable plain, RowTable ours) {
    Case lwt = new Case("lwt_" + name + suffix, plain.conditionalUpdates(null));
    Case conditional = new Case("if_" + name + suffix, ours.conditionalUpdates(null));
    boolean isHot = name.startsWith("hot");
    cases.pair(lwt.at(1), conditional.at(1), "lwt");
    cases.pair(
        isHot ? lwt.at(AT_HOT_ROWS) : lwt,
        isHot ? conditional.at(AT_HOT_ROWS) : conditional,
        "lwt");
  }
}
