// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.peers;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Sample;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.ToolException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Transfers as transactions of Accord, in nodes of Cassandra 6 of their own. Such a transaction is
 * one statement, sent at once; what it reads comes back with its answer.
 */
public final class AccordTransfers {
  private static final String FOLDER_PROPERTY = "isolde.accord.dir";

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

  /** Starts the nodes, measures, and stops them; nothing is measured if there are no jars. */
  public static Map<String, List<Sample>> measureIfThere(
      String name, int nodes, BenchOptions ofNodes, Run run) {
    Optional<Path> jars = Jars.folder(FOLDER_PROPERTY);
    if (jars.isEmpty()) {
      run.say("  without Accord: %s names no folder".formatted(FOLDER_PROPERTY));
      return Map.of();
    }
    run.say("Cassandra 6 with Accord, %d nodes".formatted(nodes));
    NodeSpec spec =
        TemporaryNode.spec(ofNodes)
            .withPlugin(false)
            .withCassandraFolder(jars.get())
            .withCassandraSetting("accord", "{enabled: true}");
    try (TemporaryNode cluster = TemporaryNode.start("accord", nodes, spec, run.out())) {
      RowTable table = RowTable.createAccord(cluster, "accord", run.options()).load();
      return run.samples(cluster.tools(), new Cases().add(name, in(cluster.session(), table)));
    }
  }

  /** Such transfers in a table of Accord's, or of Isolde's. */
  public static Workload in(CqlSession session, RowTable table) {
    PreparedStatement transfer = session.prepare(TRANSFER.formatted(table.name()));
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

  private static void requireRows(AsyncResultSet read) {
    if (read.one() == null) {
      throw new ToolException("A transfer did not find a row that must be there.");
    }
  }
}
