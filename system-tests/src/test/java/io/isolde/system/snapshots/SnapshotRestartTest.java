// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.snapshots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.DriverException;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.NodeTool;
import io.isolde.system.Await;
import io.isolde.system.JoiningNode;
import io.isolde.system.NodeFaults;
import io.isolde.system.Results;
import io.isolde.system.TestCluster;
import io.isolde.system.TestFork;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;

/** A node with BTI SSTables that is killed at every step of a snapshot; then another joins it. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class SnapshotRestartTest {
  private TestCluster node;

  @BeforeAll
  void startNode() {
    node =
        TestCluster.start(
            "snapshot-restart",
            1,
            "127.0.48.1",
            spec ->
                NodeFaults.allowedBy(spec)
                    .withCassandraSetting("commitlog_sync", "batch")
                    .withCassandraSetting("commitlog_sync_period", "0ms")
                    .withCassandraSetting("storage_compatibility_mode", "NONE")
                    .withCassandraSetting("sstable", "{selected_format: bti}"));
    node.change(
        "CREATE KEYSPACE k WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE k.plain (p int PRIMARY KEY, v int)",
        "CREATE TABLE k.transactional (p int PRIMARY KEY, v int)",
        "ENABLE TRANSACTIONS ON k.transactional");
    for (String table : List.of("plain", "transactional")) {
      write(table, 1);
      node.node(1).nodeTool().flush("k", table);
      write(table, 2);
    }
  }

  private void write(String table, int value) {
    for (int p = 0; p < 5; p++) {
      node.on(1, "INSERT INTO k.%s (p, v) VALUES (%d, %d)".formatted(table, p, value));
    }
  }

  @AfterAll
  void removeNode() {
    if (node != null) {
      node.close();
    }
  }

  private List<String> sums(String snapshot) {
    return List.of("plain", "transactional").stream()
        .map(
            table ->
                Results.lines(
                        node.on(
                            1,
                            "SELECT count(*), sum(v) FROM k.%s AS OF SNAPSHOT %s"
                                .formatted(table, snapshot)))
                    .get(0))
        .toList();
  }

  private List<String> snapshots() {
    return Results.lines(node.on(1, "SELECT name FROM isolde.snapshots"));
  }

  @Test
  @Order(1)
  void whenTheNodeIsKilledThenASnapshotIsThereWholeOrNotAtAll() {
    node.on(1, "CREATE SNAPSHOT lasting ON KEYSPACE k");
    write("plain", 3);
    write("transactional", 3);
    // At SEE_TABLES the creator has just added the tables, and told nobody but Cassandra.
    for (String fault : List.of("SEE_TABLES:halt", "CUT:halt", "LOAD:halt")) {
      node.fault(1, fault);
      assertThatThrownBy(() -> node.on(1, "CREATE SNAPSHOT killed ON KEYSPACE k"))
          .as(fault)
          .isInstanceOf(DriverException.class);
      node.fault(1, "");
      node.startAgain(1);
      Await.until("it is removed", () -> !snapshots().contains("killed"));
      assertThat(sums("lasting")).as(fault).containsExactly("5 10", "5 10");
    }
    // At SEE_READY it has just published the snapshot.
    node.fault(1, "SEE_READY:halt");
    assertThatThrownBy(() -> node.on(1, "CREATE SNAPSHOT decided ON KEYSPACE k"))
        .isInstanceOf(DriverException.class);
    node.fault(1, "");
    node.startAgain(1);
    assertThat(snapshots()).containsExactlyInAnyOrder("lasting", "decided");
    assertThat(sums("decided")).containsExactly("5 15", "5 15");
    assertThat(sums("lasting")).containsExactly("5 10", "5 10");
  }

  @Test
  @Order(2)
  void whenANodeJoinsThenItTakesOverItsPartOfASnapshotWithWhatHasExpiredSince() {
    node.change("CREATE TABLE k.many (p int PRIMARY KEY, v int)");
    for (int p = 0; p < 120; p++) {
      String ttl = p < 100 ? "" : " USING TTL 30";
      node.on(1, "INSERT INTO k.many (p, v) VALUES (%d, 1)%s".formatted(p, ttl));
    }
    node.on(1, "CREATE SNAPSHOT joined ON k.many");
    Await.until("rows have expired", () -> count("k.many").equals("100"));
    Path folder = TestFork.clusters().resolve("snapshot-join");
    LocalCluster.removeIfPresent(folder);
    LocalCluster second =
        LocalCluster.create(folder, 1, node.node(1).spec().withAddress("127.0.48.2"));
    String seeds = node.node(1).spec().cassandraSettings().get("seed_provider");
    second
        .node(1)
        .reconfigure(
            spec ->
                spec.withCassandraSetting("seed_provider", seeds)
                    .withCassandraSetting("initial_token", JoiningNode.tokens(spec.tokens()))
                    .withCassandraSetting("auto_bootstrap", "true")
                    // Or it joins before it has heard of the schema, and takes over nothing.
                    .withSystemProperty("cassandra.ring_delay_ms", "8000"));
    try (second) {
      second.start();
      assertThat(count("k.many")).isEqualTo("100");
      assertThat(count("k.many AS OF SNAPSHOT joined")).isEqualTo("120");
      try (NodeTool tool = second.node(1).nodeTool()) {
        String bean =
            "org.apache.cassandra.metrics:type=Table,keyspace=k,scope=many__joined,name=%s";
        assertThat((Integer) tool.attribute(bean.formatted("LiveSSTableCount"), "Value"))
            .isPositive();
      }
    }
    second.remove();
  }

  private String count(String from) {
    return Results.lines(node.on(1, "SELECT count(*) FROM " + from)).get(0);
  }
}
