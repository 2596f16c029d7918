// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.bench.tpcc.Consistency;
import io.isolde.bench.tpcc.Scale;
import io.isolde.bench.tpcc.Table;
import io.isolde.client.IsolationLevel;
import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * TPC-C on one node: its transactions as plain statements without isolation, with snapshot
 * isolation and serializable, each on tables of its own.
 */
final class TpccBenchmark implements Benchmark {
  private static final int CLIENTS_PER_WAREHOUSE = 10;
  private static final int CUSTOMERS = 100;
  private static final int ITEMS = 1000;

  /** The whole mix at one level. */
  private record Level(String name, Optional<IsolationLevel> isolation) {
    String keyspace() {
      return "tpcc_" + name;
    }
  }

  private static final Level PLAIN = new Level("plain", Optional.empty());
  private static final List<Level> LEVELS =
      List.of(
          PLAIN,
          new Level("si", Optional.of(IsolationLevel.SNAPSHOT)),
          new Level("serializable", Optional.of(IsolationLevel.SERIALIZABLE)));

  @Override
  public String name() {
    return "tpcc";
  }

  @Override
  public String summary() {
    return "TPC-C's mix without isolation, at SNAPSHOT and SERIALIZABLE, and what it leaves";
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    Scale scale =
        new Scale(Math.max(1, options.inFlight() / CLIENTS_PER_WAREHOUSE), CUSTOMERS, ITEMS);
    List<TpccTerminals> all = new ArrayList<>();
    try (TemporaryNode node = TemporaryNode.start("bench", TemporaryNode.spec(options), out);
        CqlSession session = node.connect();
        NodeTool tool = node.node().nodeTool()) {
      for (Level level : LEVELS) {
        all.add(open(session, level, scale, options));
        tool.flush(level.keyspace());
      }
      List<Case> cases = new ArrayList<>();
      for (int i = 0; i < LEVELS.size(); i++) {
        cases.add(new Case(LEVELS.get(i).keyspace(), all.get(i)));
      }
      Map<String, List<Sample>> samples = new Rounds(options, List.of(tool), out).run(cases);
      return Report.of(name(), MachineDescription.ofThisMachine(), options, samples, ratios())
          .with(CpuMetrics.of(samples))
          .with(violations(all, out));
    } finally {
      all.forEach(TpccTerminals::close);
    }
  }

  private static TpccTerminals open(
      CqlSession session, Level level, Scale scale, BenchOptions options) {
    RowTable.createKeyspace(session, level.keyspace());
    for (Table table : Table.values()) {
      session.execute(table.createStatement(level.keyspace()));
    }
    RowTable.awaitAgreement(session);
    TpccTerminals terminals =
        new TpccTerminals(session, level.keyspace(), level.isolation(), scale, options.inFlight());
    terminals.load();
    if (level.isolation().isPresent()) {
      for (Table table : Table.values()) {
        session.execute(
            "ENABLE TRANSACTIONS ON %s.%s".formatted(level.keyspace(), table.cqlName()));
      }
    }
    return terminals;
  }

  static List<Ratio> ratios() {
    return LEVELS.stream()
        .filter(level -> !level.equals(PLAIN))
        .map(level -> new Ratio(level.keyspace() + "_vs_plain", level.keyspace(), PLAIN.keyspace()))
        .toList();
  }

  /** How many of the conditions, each of a warehouse or a district, do not hold. */
  private static Map<String, Double> violations(List<TpccTerminals> all, PrintWriter out) {
    Map<String, Double> metrics = new LinkedHashMap<>();
    for (int i = 0; i < LEVELS.size(); i++) {
      String name = LEVELS.get(i).keyspace();
      List<Consistency.Violation> found = all.get(i).violations();
      out.printf(
          "  %s: %d violations of the consistency conditions 1 to 4%s%n",
          name, found.size(), found.isEmpty() ? "" : ", the first: " + found.get(0).sentence());
      for (int condition = 1; condition <= 4; condition++) {
        int number = condition;
        metrics.put(
            "%s_condition_%d_violations".formatted(name, condition),
            (double) found.stream().filter(each -> each.condition() == number).count());
      }
      metrics.put(name + "_attempts_per_transaction", all.get(i).attemptsPerTransaction());
    }
    return metrics;
  }
}
