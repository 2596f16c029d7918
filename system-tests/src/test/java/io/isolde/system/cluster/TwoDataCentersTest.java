// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.client.ErrorCode;
import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.NodeSpec;
import io.isolde.system.Await;
import io.isolde.system.NodeLogs;
import io.isolde.system.Refusals;
import io.isolde.system.ShortLived;
import io.isolde.system.TestFork;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Two nodes in the east, one in the west, and clients on both sides, which speak TLS. */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TwoDataCentersTest {
  private static final String PLACES =
      """
      127.0.50.1=east:r1
      127.0.50.2=east:r2
      127.0.50.3=west:r1
      default=west:r1
      """;
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final TransactionOptions PATIENT =
      TransactionOptions.builder().timeLimit(PATIENCE).maxAttempts(500).build();
  private static final int TRANSFERS = 40;
  private static final int MESSAGES = 300;

  @TempDir static Path files;

  private LocalCluster cluster;
  private SSLContext tls;
  private CqlSession east;
  private CqlSession west;

  @BeforeAll
  void startCluster() throws Exception {
    Certificates certificates = Certificates.make(files);
    tls = certificates.trusting();
    Path topology = Files.createDirectories(files.resolve("topology"));
    Files.writeString(topology.resolve("cassandra-topology.properties"), PLACES);
    Path folder = TestFork.clusters().resolve("two-data-centers");
    LocalCluster.removeIfPresent(folder);
    NodeSpec first =
        ShortLived.nodeAt("127.0.50.1")
            .withClassPathEntry(topology)
            .withCassandraSetting("endpoint_snitch", "PropertyFileSnitch")
            .withIsoldeSetting("staleness_sample_one_in", "1")
            .withCassandraSetting("client_encryption_options", certificates.forClients());
    cluster = LocalCluster.create(folder, 3, first);
    cluster.start();
    east = connect("east");
    west = connect("west");
    east.execute(
        "CREATE KEYSPACE k WITH replication ="
            + " {'class': 'NetworkTopologyStrategy', 'east': 2, 'west': 1}");
    cluster.awaitSchemaAgreement(PATIENCE);
    east.execute("CREATE TABLE k.account (id int PRIMARY KEY, balance int)");
    cluster.awaitSchemaAgreement(PATIENCE);
    east.execute("ENABLE TRANSACTIONS ON k.account");
    cluster.awaitSchemaAgreement(PATIENCE);
  }

  private CqlSession connect(String dataCenter) {
    return CqlSession.builder()
        .addContactPoints(cluster.contactPoints())
        .withLocalDatacenter(dataCenter)
        .withSslContext(tls)
        .withConfigLoader(
            DriverConfigLoader.programmaticBuilder()
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(40))
                .withDuration(
                    DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, Duration.ofSeconds(20))
                .withDuration(
                    DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, Duration.ofSeconds(20))
                .withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(200))
                .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(2))
                .build())
        .build();
  }

  @AfterEach
  void allAreUp() {
    cluster.start();
  }

  @AfterAll
  void removeCluster() {
    if (east != null) {
      east.close();
    }
    if (west != null) {
      west.close();
    }
    if (cluster != null) {
      cluster.remove();
    }
  }

  @Test
  void whenBothSidesTransferThenNothingIsLostAndEachSideSeesTheOther() throws Exception {
    Isolde.on(east)
        .runVoid(
            PATIENT,
            tx -> {
              tx.execute("INSERT INTO k.account (id, balance) VALUES (1, 1000)");
              tx.execute("INSERT INTO k.account (id, balance) VALUES (2, 1000)");
            });
    // Who starts after a commit sees it, wherever.
    assertThat(balance(west, 1)).isEqualTo(1000);

    ExecutorService clients = Executors.newFixedThreadPool(2);
    try {
      Future<?> eastern = clients.submit(() -> transfers(east, 1, 2, 3));
      Future<?> western = clients.submit(() -> transfers(west, 2, 1, 2));
      eastern.get();
      western.get();
    } finally {
      clients.shutdownNow();
    }

    assertThat(balance(east, 1)).isEqualTo(1000 - TRANSFERS * 3 + TRANSFERS * 2);
    assertThat(balance(west, 2)).isEqualTo(1000 + TRANSFERS * 3 - TRANSFERS * 2);
  }

  @Test
  void whenTheEastTruncatesDuringATransactionOfTheWestThenItCannotCommit() {
    east.execute("CREATE TABLE k.emptied (id int PRIMARY KEY, v int)");
    cluster.awaitSchemaAgreement(PATIENCE);
    east.execute("ENABLE TRANSACTIONS ON k.emptied");
    cluster.awaitSchemaAgreement(PATIENCE);
    Isolde.on(west)
        .runVoid(PATIENT, tx -> tx.execute("INSERT INTO k.emptied (id, v) VALUES (1, 1)"));
    try (Transaction transaction = Isolde.on(west).begin()) {
      transaction.execute("UPDATE k.emptied SET v = 2 WHERE id = 1");
      Await.until("the table is truncated, for which all nodes must be up", this::isTruncated);
      Refusals.assertRefused(ErrorCode.SNAPSHOT_TOO_OLD, transaction::commit);
    }
    assertThat(west.execute("SELECT * FROM k.emptied").all()).isEmpty();
    Isolde.on(west)
        .runVoid(PATIENT, tx -> tx.execute("INSERT INTO k.emptied (id, v) VALUES (3, 3)"));
  }

  private boolean isTruncated() {
    east.execute("TRUNCATE k.emptied");
    return true;
  }

  @Test
  void whenTheWestIsGoneThenTheEastGoesOnAndTheWestCatchesUp() {
    cluster.node(3).kill();
    Isolde.on(east)
        .runVoid(PATIENT, tx -> tx.execute("INSERT INTO k.account (id, balance) VALUES (3, 7)"));
    assertThat(balance(east, 3)).isEqualTo(7);

    cluster.node(3).start();

    assertThat(balance(west, 3)).isEqualTo(7);
  }

  /** From messages between nodes, as they are seen by the one that is asked. */
  @Test
  void whenNodesHaveWrittenAndReadThenTheyPredictHowFreshReadsAre() {
    east.execute("CREATE TABLE k.plain (id int PRIMARY KEY, v int)");
    cluster.awaitSchemaAgreement(PATIENCE);
    Node node =
        east.getMetadata().getNodes().values().stream()
            .filter(coordinator -> "east".equals(coordinator.getDatacenter()))
            .findFirst()
            .orElseThrow();
    SimpleStatement ask =
        SimpleStatement.newInstance("SELECT * FROM isolde.staleness WHERE table_name = 'k.plain'")
            .setNode(node);
    for (int id = 0; id < MESSAGES; id++) {
      int row = id;
      Await.until("all replicas answer", () -> isWrittenAndRead(row, node));
    }
    List<Row> predicted = new ArrayList<>();
    Await.until(
        "the delays of enough messages are known",
        () -> predicted.addAll(east.execute(ask).all()) && !predicted.isEmpty());

    assertThat(predicted)
        .extracting(row -> row.getString("read_level"))
        .contains("ONE", "LOCAL_ONE", "QUORUM", "ALL");
    for (Row row : predicted) {
      assertThat(row.getDouble("fresh")).isBetween(0.0, 1.0);
      assertThat(row.getLong("samples")).isPositive();
      if (row.getString("read_level").equals("ALL")) {
        assertThat(row.getBoolean("strong")).isTrue();
        assertThat(row.getDouble("fresh")).isEqualTo(1);
      }
    }
  }

  /** Or fails, as long as a node that another test has killed is not back. */
  private boolean isWrittenAndRead(int id, Node coordinator) {
    SimpleStatement write =
        SimpleStatement.newInstance("INSERT INTO k.plain (id, v) VALUES (%d, 1)".formatted(id));
    SimpleStatement read = SimpleStatement.newInstance("SELECT v FROM k.plain WHERE id = " + id);
    for (SimpleStatement statement : List.of(write, read)) {
      east.execute(statement.setConsistencyLevel(ConsistencyLevel.ALL).setNode(coordinator));
    }
    return true;
  }

  private static void transfers(CqlSession session, int from, int to, int amount) {
    Isolde isolde = Isolde.on(session);
    for (int i = 0; i < TRANSFERS; i++) {
      isolde.runVoid(
          PATIENT,
          tx -> {
            add(tx, from, -amount);
            add(tx, to, amount);
          });
    }
  }

  private static void add(Transaction tx, int id, int amount) {
    Row row = tx.execute("SELECT balance FROM k.account WHERE id = ?", id).one();
    tx.execute("UPDATE k.account SET balance = ? WHERE id = ?", row.getInt("balance") + amount, id);
  }

  private static int balance(CqlSession session, int id) {
    return Isolde.on(session)
        .run(
            PATIENT,
            tx -> {
              Row row =
                  tx.execute(
                          SimpleStatement.newInstance(
                              "SELECT balance FROM k.account WHERE id = ?", id))
                      .one();
              return row == null ? 0 : row.getInt("balance");
            });
  }
}
