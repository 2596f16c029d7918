// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.overhead;

import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.Distribution;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import io.isolde.cluster.ToolException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * What it costs that a table keeps its past, against a plain table on the same node.
 *
 * <p>First on stock Cassandra that has Isolde's jar on its class path and nothing else: there the
 * index that keeps the past works alone, without transactions. Then on a node with Isolde, where
 * every single statement on a transactional table is a transaction.
 */
public final class VersionsBenchmark {
  private static final long AGO_MICROS = TimeUnit.SECONDS.toMicros(5);
  private static final Duration STORM_LEAD_IN = Duration.ofMillis(5500);

  private VersionsBenchmark() {}

  /** The index alone. */
  public static Report ofIndex(Run run) {
    run.say("Stock Cassandra, one table with the version index, one without");
    BenchOptions options = run.options();
    var plugin = Distribution.ofSystemProperties().plugin();
    if (plugin.isEmpty()) {
      throw new ToolException(
          "The system property %s must name the plugin's jar."
              .formatted(Distribution.PLUGIN_PROPERTY));
    }
    NodeSpec spec = TemporaryNode.spec(options).withPlugin(false).withClassPathEntry(plugin.get());
    try (TemporaryNode node = TemporaryNode.start("bench", spec, run.out())) {
      RowTable plain = RowTable.create(node, "plain", options).load();
      RowTable versioned = RowTable.createVersioned(node, "versioned", options).load();
      RowTable plainInserts = RowTable.create(node, "plain_inserts", options);
      RowTable versionedInserts = RowTable.createVersioned(node, "versioned_inserts", options);
      NodeTool tool = node.tools().get(0);
      tool.flush(RowTable.KEYSPACE);
      Cases cases =
          new Cases()
              .add("plain_update", plain.updates())
              .add("versioned_update", versioned.updates())
              .add(inserts("plain_insert", plainInserts))
              .add(inserts("versioned_insert", versionedInserts))
              .add("plain_read", plain.reads())
              .add("versioned_read_now", versioned.readsAsOf(0))
              .add(inStorm(new Case("plain_read_in_storm", plain.reads()), plain, options))
              .add(
                  inStorm(
                      new Case("versioned_read_past_in_storm", versioned.readsAsOf(AGO_MICROS)),
                      versioned,
                      options))
              .ratio("update_vs_plain", "versioned_update", "plain_update")
              .ratio("insert_vs_plain", "versioned_insert", "plain_insert")
              .ratio("read_now_vs_plain", "versioned_read_now", "plain_read")
              .ratio("read_past_vs_plain", "versioned_read_past_in_storm", "plain_read_in_storm");
      Report report = run.measure(node.tools(), cases);
      return options.soakMinutes() == 0
          ? report
          : report.with(
              new Soak(versioned.updates(), versioned.readsAsOf(AGO_MICROS), tool).run(run));
    }
  }

  private static Case inserts(String name, RowTable table) {
    return new Case(name, table.inserts()).after(table::truncate);
  }

  private static Case inStorm(Case reads, RowTable table, BenchOptions options) {
    return reads.during(table.updates(), options.stormPerSecond(), STORM_LEAD_IN);
  }

  /** Single statements as transactions. */
  public static Report ofStatements(Run run) {
    run.say("Cassandra with Isolde, one table with transactions, one without");
    BenchOptions options = run.options();
    try (TemporaryNode node =
        TemporaryNode.start("bench", TemporaryNode.spec(options), run.out())) {
      RowTable plain = RowTable.create(node, "plain", options).load();
      RowTable transactional = RowTable.createTransactional(node, "transactional", options).load();
      node.flush(RowTable.KEYSPACE);
      return run.measure(
          node.tools(),
          new Cases()
              .add("isolde_plain_update", plain.updates())
              .add("autocommit_update", transactional.updates())
              .add("isolde_plain_read", plain.reads())
              .add("autocommit_read", transactional.reads())
              .ratio("autocommit_update_vs_plain", "autocommit_update", "isolde_plain_update")
              .ratio("autocommit_read_vs_plain", "autocommit_read", "isolde_plain_read"));
    }
  }
}
