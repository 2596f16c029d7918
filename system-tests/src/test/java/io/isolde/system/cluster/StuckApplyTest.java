// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.cluster;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultProtocolVersion;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.loadbalancing.NodeDistance;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.type.codec.TypeCodecs;
import io.isolde.client.ErrorCode;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeException;
import io.isolde.client.Outcome;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.system.Await;
import io.isolde.system.NodeLogs;
import io.isolde.system.ShortLived;
import io.isolde.system.TestFork;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The only replica of a partition freezes just when a commit to it is decided. The commit also
 * writes a row that is on all nodes: nobody may see that one alone, and all others go on.
 */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StuckApplyTest {
  private static final String LEADER = "127.0.44.1";
  private static final String SECOND = "127.0.44.2";
  private static final String FROZEN = "127.0.44.3";

  private LocalCluster cluster;
  private CqlSession session;

  @BeforeAll
  void startCluster() {
    Path folder = TestFork.clusters().resolve("stuck-apply");
    LocalCluster.removeIfPresent(folder);
    NodeSpec first = ShortLived.nodeAt(LEADER).withCassandraSetting("read_request_timeout", "2s");
    cluster = LocalCluster.create(folder, 3, first);
    cluster.start();
    session =
        CqlSession.builder()
            .addContactPoints(cluster.contactPoints().subList(0, 2))
            .withLocalDatacenter("datacenter1")
            .withNodeDistanceEvaluator(
                (node, dataCenter) -> isAt(node, FROZEN) ? NodeDistance.IGNORED : null)
            .withConfigLoader(
                DriverConfigLoader.programmaticBuilder()
                    .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(40))
                    .withDuration(
                        DefaultDriverOption.METADATA_SCHEMA_REQUEST_TIMEOUT, Duration.ofSeconds(30))
                    .build())
            .build();
    create("one", 1);
    create("three", 3);
  }

  private void create(String keyspace, int replicas) {
    change(
        "CREATE KEYSPACE %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %d}"
            .formatted(keyspace, replicas));
    change("CREATE TABLE %s.t (id int PRIMARY KEY, v int)".formatted(keyspace));
    change("ENABLE TRANSACTIONS ON %s.t".formatted(keyspace));
  }

  private void change(String schema) {
    on(LEADER, schema);
    cluster.awaitSchemaAgreement(LocalNode.START_BOUND);
  }

  @AfterAll
  void removeCluster() {
    if (session != null) {
      session.close();
    }
    if (cluster != null) {
      cluster.remove();
    }
  }

  @Test
  void whenACommitCanNotBeAppliedThenOnlyThoseWaitWhoNeedIt() throws Exception {
    int stuck = keyOn(FROZEN);
    int other = keyOn(LEADER);
    for (String row : new String[] {"one.t", "three.t"}) {
      on(LEADER, "INSERT INTO %s (id, v) VALUES (%d, 0)".formatted(row, stuck));
      on(LEADER, "INSERT INTO %s (id, v) VALUES (%d, 0)".formatted(row, other));
    }
    Await.until("it leads", this::leads);

    // All but the decision, which would not be made if the node were known to be down.
    Transaction tx = Isolde.on(session).begin();
    tx.execute("UPDATE one.t SET v = 1 WHERE id = ?", stuck);
    tx.execute("UPDATE three.t SET v = 1 WHERE id = ?", stuck);
    cluster.node(3).pause();
    CompletableFuture<Boolean> commit;
    try {
      commit = commit(tx);
      Await.until("the commit is in doubt", () -> inDoubt() == 1);
      othersGoOn(other);
      nobodySeesAPart(stuck);
      assertThat(inDoubt()).isEqualTo(1);
    } finally {
      cluster.node(3).resume();
    }

    cluster.awaitMembership(LocalNode.START_BOUND);
    Await.until("the commit is applied", () -> inDoubt() == 0);
    assertThat(commit.get()).as("it is committed").isTrue();
    assertThat(value("one.t", stuck)).isEqualTo(1);
    assertThat(value("three.t", stuck)).isEqualTo(1);
    on(SECOND, "INSERT INTO three.t (id, v) VALUES (%d, 3)".formatted(stuck));
    assertThat(value("three.t", stuck)).isEqualTo(3);
  }

  /** Completes with whether the client knows that it is committed, perhaps not visible yet. */
  private static CompletableFuture<Boolean> commit(Transaction tx) {
    return tx.commitAsync()
        .toCompletableFuture()
        .handle((result, error) -> error == null ? result.committed() : isCommitted(error));
  }

  private static boolean isCommitted(Throwable error) {
    return IsoldeException.find(error).orElseThrow().outcome() == Outcome.COMMITTED;
  }

  private boolean leads() {
    try {
      on(LEADER, "ALTER ORACLE LEADER '" + LEADER + "'");
      return LEADER.equals(oracle().getString("leader"));
    } catch (DriverException tookTooLong) {
      return false;
    }
  }

  private void othersGoOn(int other) {
    Isolde.on(session)
        .runVoid(
            TransactionOptions.builder().timeLimit(LocalNode.START_BOUND).maxAttempts(100).build(),
            tx -> {
              assertThat(tx.execute("SELECT v FROM three.t WHERE id = ?", other).one().getInt(0))
                  .isZero();
              tx.execute("UPDATE three.t SET v = 2 WHERE id = ?", other);
              tx.execute("UPDATE one.t SET v = 2 WHERE id = ?", other);
            });
    assertThat(value("three.t", other)).isEqualTo(2);
    assertThat(value("one.t", other)).isEqualTo(2);
  }

  private void nobodySeesAPart(int stuck) {
    String select = "SELECT v FROM three.t WHERE id = " + stuck;
    try (Transaction tx =
        Isolde.on(session).begin(TransactionOptions.builder().readOnly(true).build())) {
      IsoldeException error = assertRefused(ErrorCode.UNAVAILABLE, () -> tx.execute(select));
      assertThat(error.details()).containsEntry("table", "three.t").containsKey("in_doubt");
      assertThat(error).hasMessageContaining("decided but not applied");
    }
    assertRefused(ErrorCode.UNAVAILABLE, () -> value("three.t", stuck));
    assertRefused(ErrorCode.UNAVAILABLE, () -> on(SECOND, serial("SELECT * FROM three.t")));
    assertRefused(
        ErrorCode.UNAVAILABLE,
        () -> on(SECOND, "INSERT INTO three.t (id, v) VALUES (%d, 9)".formatted(stuck)));
  }

  /** In the newest snapshot, through a node that has not coordinated the commit. */
  private int value(String table, int id) {
    return on(SECOND, serial("SELECT v FROM %s WHERE id = %d".formatted(table, id))).getInt(0);
  }

  private static SimpleStatement serial(String select) {
    return SimpleStatement.newInstance(select).setConsistencyLevel(ConsistencyLevel.SERIAL);
  }

  private long inDoubt() {
    return oracle().getLong("in_doubt_commits");
  }

  private Row oracle() {
    return on(LEADER, "SELECT * FROM isolde.oracle");
  }

  /** A key whose only replica, where there is one, is a node. */
  private int keyOn(String address) {
    return IntStream.range(0, 1000)
        .filter(key -> isAt(replicaOf(key), address))
        .findFirst()
        .orElseThrow();
  }

  private Node replicaOf(int key) {
    ByteBuffer bytes = TypeCodecs.INT.encode(key, DefaultProtocolVersion.DEFAULT);
    return session
        .getMetadata()
        .getTokenMap()
        .orElseThrow()
        .getReplicas("one", bytes)
        .iterator()
        .next();
  }

  private Row on(String address, String cql) {
    return on(address, SimpleStatement.newInstance(cql));
  }

  private Row on(String address, SimpleStatement statement) {
    Node node =
        session.getMetadata().getNodes().values().stream()
            .filter(each -> isAt(each, address))
            .findFirst()
            .orElseThrow();
    return session.execute(statement.setNode(node)).one();
  }

  private static boolean isAt(Node node, String address) {
    return node.getEndPoint().toString().contains(address);
  }
}
