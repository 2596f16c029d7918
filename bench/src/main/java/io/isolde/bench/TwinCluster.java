// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Two nodes that both hold every row, with requests that wait for both, so that each sends a
 * message to the other and waits for the answer.
 */
final class TwinCluster implements AutoCloseable {
  private static final int NODES = 2;
  private static final int PATIENCE_SECONDS = 60;
  private static final int MAX_HEAP_MEGABYTES = 768;

  private final LocalCluster cluster;
  private final CqlSession session;
  private final List<Node> nodes;
  private final List<NodeTool> tools;
  private final CpuClock cpu;
  private final PreparedStatement insert;
  private final PreparedStatement select;
  private final BenchOptions options;

  /** Starts the nodes, which time one in so many messages; 0 for none. */
  TwinCluster(Path folder, String address, int oneIn, BenchOptions options) {
    this.options = options;
    NodeSpec spec =
        NodeSpec.standard()
            .withAddress(address)
            .withHeapMegabytes(Math.min(MAX_HEAP_MEGABYTES, options.heapMegabytes()))
            .withEphemeral(true)
            .withTokens(TemporaryNode.TOKENS)
            .withCassandraSetting("auto_snapshot", "false")
            .withIsoldeSetting("staleness_sample_one_in", Integer.toString(oneIn));
    cluster = LocalCluster.create(folder, NODES, spec);
    cluster.start();
    session = TemporaryNode.connect(cluster.contactPoints());
    nodes = List.copyOf(session.getMetadata().getNodes().values());
    tools = cluster.nodes().stream().map(LocalNode::nodeTool).toList();
    cpu = CpuClock.ofNodes(tools);
    createTable();
    insert = session.prepare("INSERT INTO twin.rows (id, value) VALUES (?, ?)");
    select = session.prepare("SELECT value FROM twin.rows WHERE id = ?");
  }

  private void createTable() {
    session.execute(
        "CREATE KEYSPACE twin WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 2}");
    session.checkSchemaAgreement();
    session.execute("CREATE TABLE twin.rows (id int PRIMARY KEY, value blob)");
    awaitOnAllNodes("SELECT id FROM twin.rows WHERE id = 0");
  }

  private void awaitOnAllNodes(String select) {
    Pause.until(
        "all nodes know the schema",
        PATIENCE_SECONDS,
        () -> nodes.stream().allMatch(node -> understands(node, select)));
  }

  private boolean understands(Node node, String select) {
    try {
      var unused = session.execute(SimpleStatement.newInstance(select).setNode(node));
      return true;
    } catch (DriverException notYet) {
      return false;
    }
  }

  Workload writes() {
    ByteBuffer value = ByteBuffer.allocate(options.rowBytes());
    return () ->
        session.executeAsync(
            insert
                .bind(anyRow(), value.duplicate())
                .setConsistencyLevel(ConsistencyLevel.ALL)
                .setNode(anyNode()));
  }

  Workload reads() {
    return () ->
        session.executeAsync(
            select.bind(anyRow()).setConsistencyLevel(ConsistencyLevel.ALL).setNode(anyNode()));
  }

  private int anyRow() {
    return ThreadLocalRandom.current().nextInt(options.rows());
  }

  private Node anyNode() {
    return nodes.get(ThreadLocalRandom.current().nextInt(nodes.size()));
  }

  /** For calls to both nodes. */
  List<NodeTool> tools() {
    return tools;
  }

  /** Of both nodes. */
  CpuClock cpu() {
    return cpu;
  }

  @Override
  public void close() {
    session.close();
    tools.forEach(NodeTool::close);
    cluster.remove();
  }
}
