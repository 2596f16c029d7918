// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.cluster.NodeTool;
import io.isolde.system.Await;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;

/** Heavy compactions of tables with each of Cassandra's strategies are Isolde's to schedule. */
final class CompactionStrategies {
  private static final Map<String, String> STRATEGIES =
      Map.of(
          "size_tiered", "{'class': 'SizeTieredCompactionStrategy'}",
          "leveled", "{'class': 'LeveledCompactionStrategy', 'sstable_size_in_mb': 1}",
          "time_window", "{'class': 'TimeWindowCompactionStrategy'}",
          "unified", "{'class': 'UnifiedCompactionStrategy', 'scaling_parameters': 'T2'}");

  private static final List<Integer> NUMBERS = List.of(1, 2, 3);
  private static final long HEAVY_BYTES = 1 << 20;
  private static final int ROWS = 60;
  private static final int ROUNDS = 8;

  private final StrongCluster nodes;
  private final Random random = new Random(11);

  /** What rows have, by table and key; those that are deleted are not here. */
  private final Map<String, Map<Integer, String>> expected = new HashMap<>();

  /** Of each table, how often it was written. */
  private final Map<String, Integer> rounds = new HashMap<>();

  private CompactionStrategies(StrongCluster nodes) {
    this.nodes = nodes;
  }

  static void check(StrongCluster nodes) {
    CompactionStrategies strategies = new CompactionStrategies(nodes);
    STRATEGIES.forEach(strategies::create);
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
    for (int round = 0; round < ROUNDS; round++) {
      STRATEGIES.keySet().forEach(strategies::isScheduledOrWrites);
    }
    for (String table : STRATEGIES.keySet()) {
      Await.until("all have compacted " + table, () -> strategies.isScheduledOrWrites(table));
    }
    NUMBERS.forEach(strategies::assertAllThereOn);
    STRATEGIES.keySet().forEach(table -> nodes.execute("DROP TABLE s." + table));
    nodes.cluster.awaitSchemaAgreement(StrongCluster.PATIENCE);
  }

  private void create(String table, String strategy) {
    expected.put(table, new HashMap<>());
    nodes.execute(
        "CREATE TABLE s.%s (p int PRIMARY KEY, v text) WITH compaction = %s"
            .formatted(table, strategy));
  }

  /** New rows, half of the round before once more, and one that is deleted; then a flush. */
  private void write(String table) {
    int first = rounds.merge(table, 1, Integer::sum) * ROWS / 2;
    for (int key = first; key < first + ROWS; key++) {
      byte[] bytes = new byte[15_000];
      random.nextBytes(bytes);
      String value = Base64.getEncoder().encodeToString(bytes);
      nodes.on(1 + key % 3, "INSERT INTO s.%s (p, v) VALUES (?, ?)".formatted(table), key, value);
      expected.get(table).put(key, value);
    }
    nodes.execute("DELETE FROM s.%s WHERE p = ?".formatted(table), first);
    expected.get(table).remove(first);
    for (int node : NUMBERS) {
      try (NodeTool tool = nodes.cluster.node(node).nodeTool()) {
        tool.flush("s", table);
      }
    }
  }

  /** Where a leader was not asked, as it did not lead just then, there is to be more to compact. */
  private boolean isScheduledOrWrites(String table) {
    boolean isScheduled = isScheduled(table);
    if (!isScheduled) {
      write(table);
    }
    return isScheduled;
  }

  /** All nodes have compacted it heavily, and one that led was asked before. */
  private boolean isScheduled(String table) {
    return NUMBERS.stream().allMatch(node -> hasCompacted(node, table))
        && NUMBERS.stream().anyMatch(node -> hasDecided(node, table));
  }

  private boolean hasCompacted(int node, String table) {
    for (Row done : nodes.on(node, "SELECT * FROM system.compaction_history")) {
      if (done.getString("keyspace_name").equals("s")
          && done.getString("columnfamily_name").equals(table)
          && done.getLong("bytes_in") >= HEAVY_BYTES) {
        return true;
      }
    }
    return false;
  }

  /** Only Isolde's own scheduling asks whether a leader shall step aside. */
  private boolean hasDecided(int node, String table) {
    for (Row event : nodes.on(node, "SELECT * FROM isolde.leadership_events")) {
      if (table.equals(event.getString("table_name"))) {
        return true;
      }
    }
    return false;
  }

  /** As the node has it, which leads then. */
  private void assertAllThereOn(int node) {
    String lead = "ALTER KEYSPACE s LEADER '%s'";
    String address = nodes.cluster.node(node).spec().address();
    Await.until("it leads", () -> nodes.execute(lead.formatted(address)).wasApplied());
    for (String table : STRATEGIES.keySet()) {
      Map<Integer, String> found = new HashMap<>();
      nodes
          .on(node, "SELECT p, v FROM s." + table)
          .forEach(row -> found.put(row.getInt("p"), row.getString("v")));
      assertThat(found.equals(expected.get(table)))
          .as("rows of %s on node %s: %s", table, node, difference(table, found))
          .isTrue();
    }
  }

  /** Keys only, since values are long. */
  private Set<Integer> difference(String table, Map<Integer, String> found) {
    Set<Integer> keys = new HashSet<>(found.keySet());
    keys.addAll(expected.get(table).keySet());
    keys.removeIf(key -> Objects.equals(found.get(key), expected.get(table).get(key)));
    return keys;
  }
}
