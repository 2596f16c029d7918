// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.snapshots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.cluster.NodeTool;
import io.isolde.system.Await;
import io.isolde.system.Results;
import io.isolde.system.TestCluster;
import java.util.List;

/** The third of three nodes, each with all data, loses its disks and is replaced by a new one. */
final class ReplacedNode {
  private static final int ROWS = 20;
  private static final String REPLACED = "127.0.47.3";

  private final TestCluster cluster;

  private ReplacedNode(TestCluster cluster) {
    this.cluster = cluster;
  }

  static void check(TestCluster cluster) {
    new ReplacedNode(cluster).check();
  }

  private void check() {
    cluster.change(
        "CREATE KEYSPACE replaced WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 3}",
        "CREATE TABLE replaced.plain (p int PRIMARY KEY, v int)",
        "CREATE TABLE replaced.transactional (p int PRIMARY KEY, v int)",
        "ENABLE TRANSACTIONS ON replaced.transactional");
    write(1);
    cluster.on(1, "CREATE SNAPSHOT first ON KEYSPACE replaced");
    write(2);
    cluster.on(3, "CREATE SNAPSHOT second ON KEYSPACE replaced");
    write(3);
    dieInTheMiddleOf("left");
    replace();
    for (int node = 1; node <= 3; node++) {
      assertSums(node, "first", ROWS);
      assertSums(node, "second", 2 * ROWS);
    }
    assertTheNewNodeHasFilesOf("first", "second");
    // A new node with the address of the old one has its host id, too, and ends what that began.
    Await.until("the unfinished one is removed", () -> !states().contains("left CREATING"));
    assertThat(states()).contains("first READY", "second READY");
    write(4);
    Await.until("its name is free on all nodes", this::isLeftMade);
    assertSums(3, "left", 4 * ROWS);
    for (String snapshot : List.of("first", "second", "left")) {
      cluster.on(3, "DROP SNAPSHOT " + snapshot);
    }
  }

  private boolean isLeftMade() {
    try {
      cluster.on(3, "CREATE SNAPSHOT left ON KEYSPACE replaced");
      return true;
    } catch (DriverException notYet) {
      System.out.println(notYet.getMessage());
      return false;
    }
  }

  private List<String> states() {
    return Results.lines(cluster.on(2, "SELECT name, state FROM isolde.snapshots"));
  }

  private void write(int value) {
    for (int p = 0; p < ROWS; p++) {
      for (String table : List.of("plain", "transactional")) {
        cluster.on(
            1 + p % 3, // At ALL: what each node has is looked at.
            SimpleStatement.newInstance(
                    "INSERT INTO replaced.%s (p, v) VALUES (%d, %d)".formatted(table, p, value))
                .setConsistencyLevel(ConsistencyLevel.ALL));
      }
    }
  }

  private void dieInTheMiddleOf(String snapshot) {
    cluster.fault(3, "LOAD:halt");
    assertThatThrownBy(() -> cluster.on(3, "CREATE SNAPSHOT " + snapshot + " ON KEYSPACE replaced"))
        .isInstanceOf(DriverException.class);
    cluster.fault(3, "");
  }

  /** As an operator does: a new node with the same address, that is no seed. */
  private void replace() {
    String seeds = cluster.node(3).spec().cassandraSettings().get("seed_provider");
    cluster.awaitDead(3);
    cluster.node(3).loseDisks();
    cluster
        .node(3)
        .reconfigure(
            spec ->
                spec.withCassandraSetting(
                        "seed_provider", seeds.replaceFirst("," + REPLACED + ":\\d+", ""))
                    .withCassandraSetting("auto_bootstrap", "true")
                    // Or it joins before it has heard of the schema, and takes over nothing.
                    .withSystemProperty("cassandra.ring_delay_ms", "8000")
                    .withSystemProperty("cassandra.replace_address_first_boot", REPLACED));
    cluster.startAgain(3);
    // With its disks it has lost the oracle's log.
    Await.until("it is no member", () -> !isMemberAfter("REMOVE"));
    Await.until("it is a member", () -> isMemberAfter("ADD"));
  }

  /** Such a change takes its time in a cluster that is busy with a new node. */
  private boolean isMemberAfter(String change) {
    try {
      cluster.on(1, "ALTER ORACLE %s '%s'".formatted(change, REPLACED));
    } catch (DriverException failedOrDone) {
      System.out.println(failedOrDone.getMessage());
    }
    return cluster
        .on(1, "SELECT members FROM isolde.oracle")
        .one()
        .getList(0, String.class)
        .contains(REPLACED);
  }

  /** As one node has it. */
  private void assertSums(int node, String snapshot, int sum) {
    for (String table : List.of("plain", "transactional")) {
      SimpleStatement all =
          SimpleStatement.newInstance(
                  "SELECT count(*), sum(v) FROM replaced.%s__%s".formatted(table, snapshot))
              .setConsistencyLevel(ConsistencyLevel.ONE);
      assertThat(Results.lines(cluster.on(node, all)))
          .as("%s of %s on node %d", table, snapshot, node)
          .containsExactly(ROWS + " " + sum);
    }
  }

  private void assertTheNewNodeHasFilesOf(String... snapshots) {
    try (NodeTool tool = cluster.node(3).nodeTool()) {
      for (String snapshot : snapshots) {
        for (String table : List.of("plain", "transactional")) {
          String bean =
              "org.apache.cassandra.metrics:type=Table,keyspace=replaced,scope=%s__%s,name=%s"
                  .formatted(table, snapshot, "LiveSSTableCount");
          assertThat((Integer) tool.attribute(bean, "Value"))
              .as("SSTables of %s of %s", table, snapshot)
              .isPositive();
        }
      }
    }
  }
}
