// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.client.Isolde;
import io.isolde.client.PushOptions;
import io.isolde.client.TransactionOptions;
import io.isolde.client.Watch;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import io.isolde.system.Await;
import io.isolde.system.HeardChanges;
import io.isolde.system.NodeLogs;
import io.isolde.system.ShortLived;
import io.isolde.system.TestFork;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A cluster whose nodes speak TLS with each other, and whose oracle begins with one member. */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OracleMembersTest {
  private static final String FIRST = "127.0.45.1";
  private static final String SECOND = "127.0.45.2";
  private static final String THIRD = "127.0.45.3";

  /** Enough that some are at each node. */
  private static final int PUSHED = 12;

  private static final Duration PATIENCE = Duration.ofMinutes(2);

  @TempDir static Path keys;

  private LocalCluster cluster;
  private CqlSession session;

  @BeforeAll
  void startCluster() throws Exception {
    Path folder = TestFork.clusters().resolve("oracle-members");
    LocalCluster.removeIfPresent(folder);
    NodeSpec first =
        ShortLived.nodeAt(FIRST)
            .withIsoldeSetting("oracle_members", "[" + FIRST + "]")
            .withIsoldeSetting("push_port", "7314")
            .withCassandraSetting(
                "server_encryption_options", Certificates.make(keys).betweenNodes());
    cluster = LocalCluster.create(folder, 3, first);
    cluster.start();
    cluster.awaitMembership(PATIENCE); // Who does not know a node yet hangs up on it.
    session = connect();
    execute(
        "CREATE KEYSPACE k WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 3}");
    execute("CREATE TABLE k.t (id int PRIMARY KEY, v int)");
    execute("ENABLE TRANSACTIONS ON k.t");
    cluster.awaitSchemaAgreement(PATIENCE);
  }

  private CqlSession connect() {
    return CqlSession.builder()
        .addContactPoints(cluster.contactPoints())
        .withLocalDatacenter("datacenter1")
        .withConfigLoader(
            DriverConfigLoader.programmaticBuilder()
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(40))
                .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(1))
                .build())
        .build();
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
  void whenMembersComeAndGoThenTransactionsGoOn() throws Exception {
    assertThat(members()).containsExactly(FIRST);
    List<Watcher> watchers = watchers(); // Two of three nodes are no members, and ask the first.
    Await.until("they have begun", () -> watchers.stream().allMatch(Watcher::hasBegun));
    Await.until("there are some at each node", () -> nodesWithWatchers() == 3);
    write(1);

    add(SECOND);
    add(THIRD);
    assertThat(members()).containsExactlyInAnyOrder(FIRST, SECOND, THIRD);
    write(2);

    Await.until(
        "the third leads",
        () ->
            isDone("ALTER ORACLE LEADER '" + THIRD + "'")
                && THIRD.equals(oracle().getString("leader")));
    assertThatThrownBy(() -> execute("ALTER ORACLE REMOVE '" + THIRD + "'"))
        .isInstanceOf(DriverException.class)
        .hasMessageContaining("lead");
    write(3);

    cluster.node(1).kill();
    write(4);
    execute("ALTER ORACLE REMOVE '" + FIRST + "'");
    assertThat(members()).containsExactlyInAnyOrder(SECOND, THIRD);
    write(5);

    cluster.node(1).start();
    add(FIRST);
    assertThat(members()).containsExactlyInAnyOrder(FIRST, SECOND, THIRD);
    write(6);

    // Of a log that it can't read it knows no members but those that it has noted beside it.
    Await.until(
        "it has applied that it is a member", () -> appliedIndex(FIRST) >= appliedIndex(SECOND));
    cluster.node(1).kill();
    damageLog(cluster.node(1));
    cluster.node(1).start();
    Await.until(
        "it says that its log is damaged",
        () -> {
          String problem = execute("SELECT problem FROM isolde.oracle", FIRST).getString(0);
          return problem != null && problem.contains("is damaged: entry ");
        });
    assertThat(execute("SELECT member FROM isolde.oracle", FIRST).getBoolean(0)).isFalse();
    Await.until(
        "it is removed",
        () -> !members().contains(FIRST) || isDone("ALTER ORACLE REMOVE '" + FIRST + "'"));
    add(FIRST);
    Await.until(
        "it is well again", () -> execute("SELECT problem FROM isolde.oracle", FIRST).isNull(0));
    assertThat(execute("SELECT member FROM isolde.oracle", FIRST).getBoolean(0)).isTrue();
    SimpleStatement all =
        SimpleStatement.newInstance("SELECT id FROM k.t")
            .setConsistencyLevel(ConsistencyLevel.SERIAL);
    assertThat(session.execute(all).all()).hasSize(6);
    List<Long> written =
        session.execute("SELECT WRITETIME(v) AS at FROM k.t").all().stream()
            .map(row -> row.getLong("at"))
            .toList();
    for (Watcher each : watchers) {
      Await.until(
          "all is heard", () -> each.commits().containsAll(written) || !each.others().isEmpty());
      each.watch.close();
      assertThat(each.others()).isEmpty();
      assertThat(each.commits()).isSorted().doesNotHaveDuplicates();
    }
  }

  /** One asks; the others are pushed, by any node. */
  private List<Watcher> watchers() {
    List<Watcher> watchers = new ArrayList<>(List.of(new Watcher(Isolde.on(session))));
    for (int i = 0; i < PUSHED; i++) {
      watchers.add(new Watcher(Isolde.on(session).withPush(PushOptions.defaults())));
    }
    return watchers;
  }

  private long nodesWithWatchers() {
    return session.execute("SELECT watchers FROM isolde.push_nodes").all().stream()
        .filter(node -> node.getInt("watchers") > 0)
        .count();
  }

  private static final class Watcher extends HeardChanges {
    private final Watch watch;

    Watcher(Isolde isolde) {
      watch = isolde.watch("SELECT CHANGES FROM k.t", List.of(), this);
    }

    boolean hasBegun() {
      return watch.position().isPresent();
    }
  }

  /** Eight bytes in the middle are not what they were. */
  private static void damageLog(LocalNode node) throws IOException {
    Path log;
    try (var files = Files.walk(node.folder())) {
      log =
          files
              .filter(file -> file.getFileName().toString().startsWith("log_inprogress_"))
              .filter(file -> file.toString().contains("isolde-oracle"))
              .findFirst()
              .orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(log);
    int used = bytes.length;
    while (bytes[used - 1] == 0) {
      used--;
    }
    for (int i = used / 2; i < used / 2 + 8; i++) {
      bytes[i] ^= 0x5a;
    }
    Files.write(log, bytes);
  }

  /** Without that, the coordinator would have to report: one round trip more for each commit. */
  @Test
  void whenACoordinatorIsOnAnotherNodeThenTheLeaderAppliesItsCommits() {
    execute("CREATE TABLE k.u (id int PRIMARY KEY, v int)");
    execute("ENABLE TRANSACTIONS ON k.u");
    Await.until(
        "the leader has applied each commit of ten",
        () -> {
          String other = otherThanTheLeader();
          long before = commits("AppliedByLeader", other);
          for (int id = 0; id < 10; id++) {
            execute("UPDATE k.u SET v = 1 WHERE id = " + id, other);
          }
          return commits("AppliedByLeader", other) == before + 10;
        });
  }

  /** It has the writes in its log, and no use for them itself. */
  @Test
  void whenTheLeaderIsNoReplicaThenItAppliesTheCommit() {
    execute(
        "CREATE KEYSPACE one WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 1}");
    execute("CREATE TABLE one.t (id int PRIMARY KEY, v int)");
    execute("ENABLE TRANSACTIONS ON one.t");
    AtomicInteger round = new AtomicInteger();
    Await.until(
        "the leader has applied some of thirty commits",
        () -> {
          round.incrementAndGet();
          String other = otherThanTheLeader();
          long before = commits("AppliedByLeader", other);
          for (int id = 0; id < 30; id++) {
            execute("UPDATE one.t SET v = " + round + " WHERE id = " + id, other);
          }
          return commits("AppliedByLeader", other) > before;
        });
    SimpleStatement all =
        SimpleStatement.newInstance("SELECT count(*), min(v) FROM one.t")
            .setConsistencyLevel(ConsistencyLevel.SERIAL);
    Row seen = session.execute(all).one();
    assertThat(seen.getLong(0)).isEqualTo(30);
    assertThat(seen.getInt(1)).isEqualTo(round.get());
  }

  private String otherThanTheLeader() {
    return FIRST.equals(oracle().getString("leader")) ? THIRD : FIRST;
  }

  private long commits(String metric, String address) {
    LocalNode node =
        cluster.nodes().stream()
            .filter(some -> some.spec().address().equals(address))
            .findFirst()
            .orElseThrow();
    try (NodeTool tool = node.nodeTool()) {
      return (Long)
          tool.attribute(
              "org.apache.cassandra.metrics:type=IsoldeTransactions,name=" + metric, "Count");
    }
  }

  private void write(int id) {
    TransactionOptions patient =
        TransactionOptions.builder().timeLimit(PATIENCE).maxAttempts(200).build();
    Isolde.on(session)
        .runVoid(patient, tx -> tx.execute("INSERT INTO k.t (id, v) VALUES (?, ?)", id, id));
  }

  /** A node that has just started may not know yet whether it is a member, and refuses. */
  private void add(String address) {
    Await.until(
        address + " is a member",
        () -> members().contains(address) || isDone("ALTER ORACLE ADD '" + address + "'"));
  }

  private boolean isDone(String cql) {
    try {
      execute(cql);
      return true;
    } catch (DriverException tookTooLong) {
      return false;
    }
  }

  private List<String> members() {
    return oracle().getList("members", String.class);
  }

  private long appliedIndex(String address) {
    return execute("SELECT applied_index FROM isolde.oracle", address).getLong(0);
  }

  private Row oracle() {
    return execute("SELECT * FROM isolde.oracle");
  }

  /** On the second node, which stays. */
  private Row execute(String cql) {
    return execute(cql, SECOND);
  }

  private Row execute(String cql, String address) {
    Node node =
        session.getMetadata().getNodes().values().stream()
            .filter(some -> some.getEndPoint().toString().contains(address))
            .findFirst()
            .orElseThrow();
    return session.execute(SimpleStatement.newInstance(cql).setNode(node)).one();
  }
}
