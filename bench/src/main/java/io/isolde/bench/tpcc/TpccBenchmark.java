// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.client.IsolationLevel;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * TPC-C on one node: its transactions as plain statements without isolation, with snapshot
 * isolation and serializable, each on tables of its own; with warehouses and districts locked; and
 * with conflicts by cell.
 */
public final class TpccBenchmark {
  private static final int CLIENTS_PER_WAREHOUSE = 10;
  private static final int CUSTOMERS = 100;
  private static final int ITEMS = 1000;
  private static final String PLAIN = "tpcc_plain";
  private static final String LOCKED = "_locked";
  private static final String CELLS = "_cells";
  private static final Map<String, Optional<IsolationLevel>> LEVELS = new LinkedHashMap<>();

  static {
    LEVELS.put(PLAIN, Optional.empty());
    LEVELS.put("tpcc_si", Optional.of(IsolationLevel.SNAPSHOT));
    LEVELS.put("tpcc_serializable", Optional.of(IsolationLevel.SERIALIZABLE));
    LEVELS.put("tpcc_si" + LOCKED, Optional.of(IsolationLevel.SNAPSHOT));
    LEVELS.put("tpcc_si" + CELLS, Optional.of(IsolationLevel.SNAPSHOT));
    LEVELS.put("tpcc_si" + CELLS + LOCKED, Optional.of(IsolationLevel.SNAPSHOT));
    LEVELS.put("tpcc_serializable" + LOCKED, Optional.of(IsolationLevel.SERIALIZABLE));
  }

  private TpccBenchmark() {}

  /** Runs it. */
  public static Report run(Run run) {
    int inFlight = run.options().inFlight();
    Scale scale = new Scale(Math.max(1, inFlight / CLIENTS_PER_WAREHOUSE), CUSTOMERS, ITEMS);
    Map<String, TpccTerminals> all = new LinkedHashMap<>();
    try (TemporaryNode node =
        TemporaryNode.start("bench", TemporaryNode.spec(run.options()), run.out())) {
      Cases cases = new Cases();
      LEVELS.forEach(
          (keyspace, level) -> {
            createTables(node, keyspace);
            TpccTerminals terminals =
                new TpccTerminals(
                    node.session(), keyspace, level, locked(keyspace), scale, inFlight);
            all.put(keyspace, terminals);
            terminals.load();
            if (level.isPresent()) {
              enableTransactions(node.session(), keyspace);
              cases.ratio(keyspace + "_vs_plain", keyspace, PLAIN);
            }
            node.flush(keyspace);
            cases.add(keyspace, terminals);
          });
      Report report = run.measure(node.tools(), cases);
      return report.with(leftovers(all, run));
    } finally {
      all.values().forEach(TpccTerminals::close);
    }
  }

  /** A lock concerns all columns of a row: by cell, orders and payments share only warehouses. */
  private static Set<Table> locked(String keyspace) {
    if (!keyspace.endsWith(LOCKED)) {
      return Set.of();
    }
    return keyspace.contains(CELLS)
        ? Set.of(Table.WAREHOUSE)
        : Set.of(Table.WAREHOUSE, Table.DISTRICT);
  }

  private static void createTables(TemporaryNode node, String keyspace) {
    node.createKeyspace(keyspace);
    for (Table table : Table.values()) {
      node.session().execute(table.createStatement(keyspace));
    }
    node.awaitSchema();
  }

  private static void enableTransactions(CqlSession session, String keyspace) {
    String option = keyspace.contains(CELLS) ? " WITH conflicts = 'cell'" : "";
    for (Table table : Table.values()) {
      session.execute("ENABLE TRANSACTIONS ON %s.%s".formatted(keyspace, table.cqlName()) + option);
    }
  }

  /** How many of the conditions, each of a warehouse or a district, do not hold. */
  private static Map<String, Double> leftovers(Map<String, TpccTerminals> all, Run run) {
    Map<String, Double> metrics = new LinkedHashMap<>();
    all.forEach(
        (name, terminals) -> {
          List<Consistency.Violation> found = terminals.violations();
          run.say(
              "  %s: %d violations of the consistency conditions 1 to 4%s"
                  .formatted(
                      name,
                      found.size(),
                      found.isEmpty() ? "" : ", the first: " + found.get(0).sentence()));
          for (int condition = 1; condition <= 4; condition++) {
            int number = condition;
            metrics.put(
                "%s_condition_%d_violations".formatted(name, condition),
                (double) found.stream().filter(each -> each.condition() == number).count());
          }
          metrics.put(name + "_attempts_per_transaction", terminals.attemptsPerTransaction());
        });
    return metrics;
  }
}
