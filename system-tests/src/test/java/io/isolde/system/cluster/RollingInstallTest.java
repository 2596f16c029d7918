// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.cluster;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.loadbalancing.NodeDistance;
import io.isolde.client.ErrorCode;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeTool;
import io.isolde.system.Await;
import io.isolde.system.ShortLived;
import io.isolde.system.TestFork;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A cluster to which Isolde comes node by node. What puts a class of Isolde into the schema waits
 * until all nodes have it: a node without it could not load the schema, and would never start
 * again.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class RollingInstallTest {
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final String STRONG =
      "CREATE KEYSPACE strong WITH replication = {'class':"
          + " 'io.isolde.replication.ReplicatedLogStrategy', 'replication_factor': 2}";

  private static final String SIMPLE = "{'class': 'SimpleStrategy', 'replication_factor': 2}";

  private static LocalCluster cluster;
  private static final AtomicInteger written = new AtomicInteger();

  @BeforeAll
  static void startWithIsoldeOnOneNode() {
    Path folder = TestFork.clusters().resolve("rolling-install");
    LocalCluster.removeIfPresent(folder);
    cluster = LocalCluster.create(folder, 2, ShortLived.nodeAt("127.0.57.1"));
    cluster.node(1).reconfigure(spec -> spec.withIsoldeSetting("strong_keyspaces", "tool_*"));
    cluster.node(2).reconfigure(spec -> spec.withPlugin(false));
    cluster.start();
    cluster.awaitMembership(PATIENCE);
    try (CqlSession session = connect(1)) {
      session.execute(
          "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor':"
              + " 2}");
      session.execute("CREATE TABLE k.t (id int PRIMARY KEY, v int)");
      session.execute("CREATE TABLE k.plain (id int PRIMARY KEY, v int)");
    }
    cluster.awaitSchemaAgreement(PATIENCE);
  }

  @AfterAll
  static void remove() {
    cluster.remove();
  }

  /** A session that asks one node and no other. */
  private static CqlSession connect(int number) {
    InetSocketAddress address = cluster.node(number).contactPoint();
    return CqlSession.builder()
        .addContactPoint(address)
        .withLocalDatacenter("datacenter1")
        .withNodeDistanceEvaluator(
            (node, datacenter) ->
                node.getEndPoint().resolve().equals(address)
                    ? NodeDistance.LOCAL
                    : NodeDistance.IGNORED)
        .withConfigLoader(
            DriverConfigLoader.programmaticBuilder()
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(40))
                .withDuration(
                    DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(20))
                .withDuration(
                    DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(20))
                .withBoolean(DefaultDriverOption.METADATA_SCHEMA_ENABLED, false)
                .build())
        .build();
  }

  @ParameterizedTest
  @Order(1)
  @ValueSource(
      strings = {
        STRONG,
        "ENABLE TRANSACTIONS ON k.t",
        "CREATE SNAPSHOT s ON k.t",
        "CREATE CUSTOM INDEX i ON k.t () USING 'io.isolde.version.VersionIndex'",
        "CREATE TABLE k.frozen (id int PRIMARY KEY) WITH compaction = {'class':"
            + " 'io.isolde.snapshot.store.FrozenStrategy'}",
        "ALTER TABLE k.t WITH compaction = {'class': 'io.isolde.snapshot.store.FrozenStrategy'}"
      })
  void whenANodeHasNoIsoldeThenNothingOfItComesIntoTheSchema(String statement) {
    try (CqlSession session = connect(1)) {
      assertThat(assertRefused(ErrorCode.NODE_WITHOUT_ISOLDE, () -> session.execute(statement)))
          .hasMessageContaining("127.0.57.2");
    }
    assertPlainWritesGoOn();
    assertSchemaIsOne();
  }

  @Test
  @Order(2)
  void whenThatNodeIsDownThenNothingComesIntoTheSchemaEither() {
    cluster.node(2).kill();
    try (CqlSession session = connect(1)) {
      Await.until("node 2 is seen as down", RollingInstallTest::isDown);
      assertRefused(ErrorCode.UNAVAILABLE, () -> session.execute(STRONG));
      assertRefused(ErrorCode.UNAVAILABLE, () -> session.execute("ENABLE TRANSACTIONS ON k.t"));
    }
  }

  private static boolean isDown() {
    try (NodeTool tool = cluster.node(1).nodeTool()) {
      return !tool.liveNodes().contains("127.0.57.2");
    }
  }

  @Test
  @Order(3)
  void whenAllNodesHaveIsoldeThenAllOfItWorksAndNothingIsLost() {
    LocalNode second = cluster.node(2);
    second.reconfigure(spec -> spec.withPlugin(true));
    second.start();
    cluster.awaitMembership(PATIENCE);
    try (CqlSession session = connect(1)) {
      session.execute(STRONG);
      session.execute("CREATE TABLE strong.t (id int PRIMARY KEY, v int)");
      session.execute("ENABLE TRANSACTIONS ON k.t");
      session.execute("INSERT INTO k.t (id, v) VALUES (1, 1)");
    }
    assertPlainWritesGoOn();
    assertSchemaIsOne();
    try (CqlSession session = connect(2)) {
      assertThat(session.execute("SELECT v FROM k.t WHERE id = 1").one().getInt(0)).isOne();
      List<Row> rows = session.execute("SELECT id FROM k.plain").all();
      assertThat(rows).hasSize(written.get());
    }
  }

  @Test
  @Order(4)
  void whenNodesNameTheSameKeyspacesThenThoseOfToolsAreStrong() {
    String create = "CREATE KEYSPACE tool_jobs WITH replication = %s".formatted(SIMPLE);
    try (CqlSession session = connect(1)) {
      assertThat(assertRefused(ErrorCode.UNSUPPORTED_KEYSPACE, () -> session.execute(create)))
          .hasMessageContaining("on the node 127.0.57.2 it is []");
    }
    LocalNode second = cluster.node(2);
    second.stop();
    second.reconfigure(spec -> spec.withIsoldeSetting("strong_keyspaces", "tool_*"));
    second.start();
    cluster.awaitMembership(PATIENCE);
    try (CqlSession session = connect(1)) {
      assertThat(session.execute(create).getExecutionInfo().getWarnings())
          .anyMatch(warning -> warning.contains("created as a strong keyspace"));
      session.execute(create.replace("KEYSPACE", "KEYSPACE IF NOT EXISTS"));
      session.execute("CREATE TABLE tool_jobs.t (id int PRIMARY KEY)");
      session.execute("INSERT INTO tool_jobs.t (id) VALUES (1) IF NOT EXISTS");
      String alter = "ALTER KEYSPACE tool_jobs WITH replication = ";
      String same = alter + SIMPLE + " AND durable_writes = true";
      assertThat(session.execute(same).getExecutionInfo().getWarnings())
          .anyMatch(warning -> warning.contains("nothing was changed"));
      String fewer = alter + SIMPLE.replace('2', '1');
      assertThat(session.execute(fewer).getExecutionInfo().getWarnings())
          .anyMatch(warning -> warning.contains("REBALANCE"));
      Row row =
          session
              .execute(
                  "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name ="
                      + " 'tool_jobs'")
              .one();
      assertThat(row.getMap("replication", String.class, String.class))
          .containsEntry("class", "io.isolde.replication.ReplicatedLogStrategy")
          .containsEntry("replication_factor", "1");
    }
    assertSchemaIsOne();
  }

  private static void assertPlainWritesGoOn() {
    try (CqlSession session = connect(2)) {
      int id = written.incrementAndGet();
      session.execute("INSERT INTO k.plain (id, v) VALUES (" + id + ", 0)");
    }
  }

  private static void assertSchemaIsOne() {
    cluster.awaitSchemaAgreement(PATIENCE);
  }
}
