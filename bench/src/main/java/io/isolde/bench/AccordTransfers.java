// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import io.isolde.cluster.ToolException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Transfers as transactions of Accord, in nodes of Cassandra 6 of their own. Such a transaction is
 * one statement, sent at once; what it reads comes back with its answer.
 */
final class AccordTransfers {
  private static final String TRANSFER =
      """
      BEGIN TRANSACTION
        LET source = (SELECT v FROM %1$s WHERE p = :source);
        LET target = (SELECT v FROM %1$s WHERE p = :target);
        SELECT source.v, target.v;
        UPDATE %1$s SET v = :v WHERE p = :source;
        UPDATE %1$s SET v = :w WHERE p = :target;
      COMMIT TRANSACTION
      """;

  private AccordTransfers() {}

  /** Starts the nodes, measures, and stops them. */
  static Map<String, List<Sample>> measure(
      Path jars, int nodes, int heapMegabytes, BenchOptions options, PrintWriter out) {
    out.printf("Cassandra 6 with Accord, %d nodes%n", nodes);
    NodeSpec spec =
        TemporaryNode.spec(options)
            .withHeapMegabytes(heapMegabytes)
            .withPlugin(false)
            .withCassandraFolder(jars)
            .withCassandraSetting("accord", "{enabled: true}");
    try (TemporaryNode cluster = TemporaryNode.start("accord", nodes, spec, out);
        CqlSession session = cluster.connect()) {
      RowTable table = RowTable.createAccord(session, "accord", options);
      table.load();
      Case transfer = new Case("accord_transfer_%dn".formatted(nodes), transfers(session, table));
      List<NodeTool> tools = cluster.nodes().stream().map(LocalNode::nodeTool).toList();
      try {
        return new Rounds(options, tools, out).run(List.of(transfer));
      } finally {
        tools.forEach(NodeTool::close);
      }
    }
  }

  private static Workload transfers(CqlSession session, RowTable table) {
    PreparedStatement transfer = session.prepare(TRANSFER.formatted(table.fullName()));
    return () -> {
      long source = table.anyRow();
      long target = table.rowOtherThan(source);
      return session
          .executeAsync(
              transfer
                  .boundStatementBuilder()
                  .setLong("source", source)
                  .setLong("target", target)
                  .setByteBuffer("v", table.value())
                  .setByteBuffer("w", table.value())
                  .build())
          .thenAccept(AccordTransfers::requireRows);
    };
  }

  private static void requireRows(com.datastax.oss.driver.api.core.cql.AsyncResultSet read) {
    if (read.one() == null) {
      throw new ToolException("Accord did not find a row that must be there.");
    }
  }
}
