// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.bench.ycsb.Mix;
import io.isolde.bench.ycsb.YcsbTable;
import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * YCSB's workloads and pH1's mix on one node, on a plain table and on a transactional one: there
 * each operation is a transaction of its own, and so is an update of ten rows.
 */
final class YcsbBenchmark implements Benchmark {
  private static final String PLAIN = "plain_usertable";
  private static final String TRANSACTIONAL = "usertable";

  @Override
  public String name() {
    return "ycsb";
  }

  @Override
  public String summary() {
    return "YCSB's workloads A to F and pH1's mix, transactional against plain";
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    try (TemporaryNode node = TemporaryNode.start("bench", TemporaryNode.spec(options), out);
        CqlSession session = node.connect();
        NodeTool tool = node.node().nodeTool()) {
      RowTable.createKeyspace(session);
      try (YcsbTable plain = create(session, PLAIN, false, options);
          YcsbTable transactional = create(session, TRANSACTIONAL, true, options)) {
        List.of(plain, transactional).forEach(YcsbTable::load);
        tool.flush(RowTable.KEYSPACE);
        Map<String, List<Sample>> samples =
            new Rounds(options, List.of(tool), out).run(cases(plain, transactional));
        return Report.of(name(), MachineDescription.ofThisMachine(), options, samples, ratios())
            .with(CpuMetrics.of(samples));
      }
    }
  }

  private static YcsbTable create(
      CqlSession session, String name, boolean isTransactional, BenchOptions options) {
    String table = RowTable.KEYSPACE + "." + name;
    session.execute(YcsbTable.createStatement(table));
    if (isTransactional) {
      session.execute("ENABLE TRANSACTIONS ON " + table);
    }
    return YcsbTable.open(
        session, table, options.rows(), options.rowBytes(), options.inFlight(), isTransactional);
  }

  private static List<Case> cases(YcsbTable plain, YcsbTable transactional) {
    List<Case> cases = new ArrayList<>();
    for (Mix mix : Mix.all()) {
      cases.add(new Case(plainCase(mix), plain.operations(mix)::get));
      cases.add(new Case(transactionalCase(mix), transactional.operations(mix)::get));
    }
    return cases;
  }

  static List<Ratio> ratios() {
    return Mix.all().stream()
        .map(
            mix ->
                new Ratio(
                    "ycsb_%s_vs_plain".formatted(mix.name()),
                    transactionalCase(mix),
                    plainCase(mix)))
        .toList();
  }

  private static String plainCase(Mix mix) {
    return "ycsb_%s_plain".formatted(mix.name());
  }

  private static String transactionalCase(Mix mix) {
    return "ycsb_%s".formatted(mix.name());
  }
}
