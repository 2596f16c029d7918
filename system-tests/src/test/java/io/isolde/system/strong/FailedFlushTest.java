// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.cluster.ClusterException;
import io.isolde.cluster.NodeTool;
import io.isolde.system.Await;
import io.isolde.system.NodeLogs;
import io.isolde.system.TestCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Cassandra does not try a flush again that has failed, so what was in it is in the group's log
 * alone, however many flushes succeed afterwards.
 */
@ExtendWith(NodeLogs.class)
class FailedFlushTest {
  private static final int EARLY_ROWS = 20;
  private static final int LATE_ROWS = 60;

  /** At ONE it might be read before the log is replayed. */
  private static final SimpleStatement OF_THE_LEADER =
      SimpleStatement.newInstance("SELECT p FROM s.t")
          .setConsistencyLevel(DefaultConsistencyLevel.QUORUM);

  private static final String LONG_VALUE = "x".repeat(100_000);

  @Test
  void whenAFlushHasFailedThenTheLogIsKeptAndNothingIsLost() throws Exception {
    try (TestCluster cluster = oneNode("failed-flush")) {
      cluster.on(1, "CREATE TABLE s.t (p int PRIMARY KEY, v text)");
      writeAndKill(
          cluster, "INSERT INTO s.t (p, v) VALUES (%d, 'early')", () -> tableFolder(cluster));
      List<Integer> rows =
          cluster.on(1, OF_THE_LEADER).all().stream().map(row -> row.getInt("p")).toList();
      assertThat(rows)
          .containsExactlyInAnyOrderElementsOf(
              IntStream.range(0, EARLY_ROWS + LATE_ROWS).boxed().toList());
    }
  }

  /** Cassandra flushes an index after its table: that one's flush has worked then. */
  @Test
  void whenAFlushOfAnIndexHasFailedThenTheLogIsKeptAndTheIndexMissesNothing() throws Exception {
    try (TestCluster cluster = oneNode("failed-index-flush")) {
      cluster.on(1, "CREATE TABLE s.t (p int PRIMARY KEY, v text, w int)");
      cluster.on(1, "CREATE INDEX early ON s.t (w)");
      writeAndKill(
          cluster,
          "INSERT INTO s.t (p, w) VALUES (%d, 1)",
          () -> tableFolder(cluster).resolve(".early"));
      SimpleStatement byIndex =
          SimpleStatement.newInstance("SELECT p FROM s.t WHERE w = 1")
              .setConsistencyLevel(DefaultConsistencyLevel.QUORUM);
      assertThat(cluster.on(1, byIndex).all()).hasSize(EARLY_ROWS);
    }
  }

  private static TestCluster oneNode(String name) {
    TestCluster cluster =
        TestCluster.start(
            name,
            1,
            "127.0.60.1",
            spec ->
                spec.withIsoldeSetting("strong_log_size", "1MiB")
                    .withCassandraSetting("disk_failure_policy", "ignore"));
    cluster.on(
        1,
        "CREATE KEYSPACE s WITH replication = {'class':"
            + " 'io.isolde.replication.ReplicatedLogStrategy', 'replication_factor': 1}");
    return cluster;
  }

  /** The early rows are in a flush that fails, the late ones in flushes after it. */
  private static void writeAndKill(TestCluster cluster, String early, Callable<Path> folder)
      throws Exception {
    for (int i = 0; i < EARLY_ROWS; i++) {
      cluster.on(1, early.formatted(i));
    }
    flushWithout(folder.call(), cluster);
    for (int i = 0; i < LATE_ROWS; i++) {
      cluster.on(
          1, "INSERT INTO s.t (p, v) VALUES (%d, '%s')".formatted(EARLY_ROWS + i, LONG_VALUE));
    }
    Await.until("the log has grown enough for a mark", () -> logSays(cluster, "the log is kept"));
    cluster.disconnect();
    cluster.node(1).kill();
    cluster.startAgain(1);
  }

  /** A file is where the folder was. */
  private static void flushWithout(Path folder, TestCluster cluster) throws IOException {
    Path aside = folder.resolveSibling("aside");
    Files.move(folder, aside);
    Files.createFile(folder);
    try (NodeTool tool = cluster.node(1).nodeTool()) {
      tool.flush("s", "t");
    } catch (ClusterException expected) {
      assertThat(expected).hasMessageContaining("forceKeyspaceFlush");
    }
    Await.until("the flush has failed", () -> logSays(cluster, "FSWriteError"));
    Files.delete(folder);
    Files.move(aside, folder);
  }

  private static Path tableFolder(TestCluster cluster) throws IOException {
    try (var folders = Files.walk(cluster.node(1).folder().resolve("data").resolve("s"))) {
      return folders
          .filter(path -> path.getFileName().toString().startsWith("t-"))
          .filter(path -> path.getParent().getFileName().toString().equals("s"))
          .findFirst()
          .orElseThrow();
    }
  }

  private static boolean logSays(TestCluster cluster, String text) {
    return cluster.node(1).logTail(10_000).contains(text);
  }
}
