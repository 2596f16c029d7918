// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.snapshots;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.cluster.NodeTool;
import io.isolde.system.Await;
import io.isolde.system.Results;
import io.isolde.system.TestCluster;
import java.util.ArrayList;
import java.util.List;

/** A table whose three replicas have different rows, as its keyspace had one replica before. */
final class RepairedSnapshot {
  private static final int ROWS = 30;
  private static final int EXPIRING = 10;

  private final TestCluster cluster;

  private RepairedSnapshot(TestCluster cluster) {
    this.cluster = cluster;
  }

  static void check(TestCluster cluster) {
    new RepairedSnapshot(cluster).check();
  }

  private void check() {
    cluster.change(
        "CREATE KEYSPACE spread WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 1}",
        "CREATE TABLE spread.t (p int PRIMARY KEY)");
    insert(0, ROWS, "");
    flush();
    cluster.change(
        "ALTER KEYSPACE spread WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 3}");
    insert(ROWS, EXPIRING, " USING TTL 40");
    cluster.on(1, "CREATE SNAPSHOT kept ON spread.t");
    List<Object> live = files("t");
    List<Object> kept = files("t__kept");
    Await.until("rows have expired", () -> rows("spread.t") == ROWS);
    for (boolean isFull : List.of(true, false)) {
      try (NodeTool tool = cluster.node(isFull ? 1 : 2).nodeTool()) {
        tool.repair("spread", isFull, TestCluster.PATIENCE);
      }
    }
    assertThat(files("t")).as("the repair had something to do").isNotEqualTo(live);
    assertThat(files("t__kept")).isEqualTo(kept);
    assertThat(rows("spread.t AS OF SNAPSHOT kept")).isEqualTo(ROWS + EXPIRING);
    cluster.on(1, "DROP SNAPSHOT kept");
  }

  private void insert(int firstKey, int count, String ttl) {
    for (int key = firstKey; key < firstKey + count; key++) {
      cluster.on(1, "INSERT INTO spread.t (p) VALUES (%d)%s".formatted(key, ttl));
    }
  }

  private void flush() {
    for (int node = 1; node <= 3; node++) {
      try (NodeTool tool = cluster.node(node).nodeTool()) {
        tool.flush("spread");
      }
    }
  }

  private int rows(String from) {
    SimpleStatement all =
        SimpleStatement.newInstance("SELECT p FROM " + from)
            .setConsistencyLevel(ConsistencyLevel.ALL);
    return Results.lines(cluster.session().execute(all)).size();
  }

  /** Of each node, how many SSTables of a table it has, and how large they are. */
  private List<Object> files(String table) {
    List<Object> files = new ArrayList<>();
    for (int node = 1; node <= 3; node++) {
      try (NodeTool tool = cluster.node(node).nodeTool()) {
        String bean = "org.apache.cassandra.metrics:type=Table,keyspace=spread,scope=%s,name=%s";
        files.add(tool.attribute(bean.formatted(table, "LiveSSTableCount"), "Value"));
        files.add(tool.attribute(bean.formatted(table, "LiveDiskSpaceUsed"), "Count"));
      }
    }
    return files;
  }
}
