// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.Distribution;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import io.isolde.cluster.ToolException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * What it costs that a table keeps its past, against a plain table on the same node.
 *
 * <p>First on stock Cassandra that has Isolde's jar on its class path and nothing else: there the
 * index that keeps the past works alone, without transactions. Then on a node with Isolde, where
 * every single statement on a transactional table is a transaction.
 */
final class VersionsBenchmark implements Benchmark {
  private static final long AGO_MICROS = TimeUnit.SECONDS.toMicros(5);
  private static final Duration STORM_LEAD_IN = Duration.ofMillis(5500);

  @Override
  public String name() {
    return "versions";
  }

  @Override
  public String summary() {
    return "the cost of keeping a table's past, and of transactions of one statement";
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    return ofIndex(options, out).and(ofStatements(options, out));
  }

  private Report ofIndex(BenchOptions options, PrintWriter out) {
    out.println("Stock Cassandra, one table with the version index, one without");
    var plugin = Distribution.ofSystemProperties().plugin();
    if (plugin.isEmpty()) {
      throw new ToolException(
          "The system property %s must name the plugin's jar."
              .formatted(Distribution.PLUGIN_PROPERTY));
    }
    NodeSpec spec = TemporaryNode.spec(options).withPlugin(false).withClassPathEntry(plugin.get());
    try (TemporaryNode node = TemporaryNode.start("bench", spec, out);
        CqlSession session = node.connect();
        NodeTool tool = node.node().nodeTool()) {
      RowTable plain = RowTable.create(session, "plain", options);
      RowTable versioned = RowTable.createVersioned(session, "versioned", options);
      RowTable plainInserts = RowTable.create(session, "plain_inserts", options);
      RowTable versionedInserts = RowTable.createVersioned(session, "versioned_inserts", options);
      load(List.of(plain, versioned), tool);
      List<Case> cases =
          List.of(
              new Case("plain_update", plain.updates()),
              new Case("versioned_update", versioned.updates()),
              new Case("plain_insert", plainInserts.inserts()).after(plainInserts::truncate),
              new Case("versioned_insert", versionedInserts.inserts())
                  .after(versionedInserts::truncate),
              new Case("plain_read", plain.reads()),
              new Case("versioned_read_now", versioned.readsAsOf(0)),
              new Case("plain_read_in_storm", plain.reads()).during(storm(plain, options)),
              new Case("versioned_read_past_in_storm", versioned.readsAsOf(AGO_MICROS))
                  .during(storm(versioned, options)));
      List<Ratio> ratios =
          List.of(
              new Ratio("update_vs_plain", "versioned_update", "plain_update"),
              new Ratio("insert_vs_plain", "versioned_insert", "plain_insert"),
              new Ratio("read_now_vs_plain", "versioned_read_now", "plain_read"),
              new Ratio(
                  "read_past_vs_plain", "versioned_read_past_in_storm", "plain_read_in_storm"));
      Report report = measure(cases, ratios, options, tool, out);
      return options.soakMinutes() == 0
          ? report
          : report.with(
              new Soak(versioned.updates(), versioned.readsAsOf(AGO_MICROS), tool, out)
                  .run(options));
    }
  }

  private Report ofStatements(BenchOptions options, PrintWriter out) {
    out.println("Cassandra with Isolde, one table with transactions, one without");
    try (TemporaryNode node = TemporaryNode.start("bench", TemporaryNode.spec(options), out);
        CqlSession session = node.connect();
        NodeTool tool = node.node().nodeTool()) {
      RowTable plain = RowTable.create(session, "plain", options);
      RowTable transactional = RowTable.createTransactional(session, "transactional", options);
      load(List.of(plain, transactional), tool);
      List<Case> cases =
          List.of(
              new Case("isolde_plain_update", plain.updates()),
              new Case("autocommit_update", transactional.updates()),
              new Case("isolde_plain_read", plain.reads()),
              new Case("autocommit_read", transactional.reads()));
      List<Ratio> ratios =
          List.of(
              new Ratio("autocommit_update_vs_plain", "autocommit_update", "isolde_plain_update"),
              new Ratio("autocommit_read_vs_plain", "autocommit_read", "isolde_plain_read"));
      return measure(cases, ratios, options, tool, out);
    }
  }

  private static void load(List<RowTable> tables, NodeTool tool) {
    tables.forEach(RowTable::load);
    tool.flush(RowTable.KEYSPACE);
  }

  private static Storm.Plan storm(RowTable table, BenchOptions options) {
    return new Storm.Plan(table.updates(), options.stormPerSecond(), STORM_LEAD_IN);
  }

  private Report measure(
      List<Case> cases, List<Ratio> ratios, BenchOptions options, NodeTool tool, PrintWriter out) {
    Map<String, List<Sample>> samples = new Rounds(options, List.of(tool), out).run(cases);
    return Report.of(name(), MachineDescription.ofThisMachine(), options, samples, ratios)
        .with(CpuMetrics.of(samples));
  }
}
