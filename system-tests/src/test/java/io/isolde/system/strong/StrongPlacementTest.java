// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.client.IsoldeSessionBuilder;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.NodeSpec;
import io.isolde.system.Await;
import io.isolde.system.NodeLogs;
import io.isolde.system.ShortLived;
import io.isolde.system.TestFork;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * Strong keyspaces on three nodes in two racks of the east, and on a fourth node in the west. The
 * second node is alone in its rack.
 */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class StrongPlacementTest {
  private static final String PLACES =
      """
      127.0.58.1=east:r1
      127.0.58.2=east:r2
      127.0.58.3=east:r1
      127.0.58.4=west:r1
      default=west:r1
      """;
  private static final Set<Integer> EAST = Set.of(1, 2, 3);
  private static final int ALONE = 2;
  private static final int WEST = 4;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /** Led in the east, where a majority is. */
  private static final String BOTH = "both_sides";

  /** Led in the west. */
  private static final String WESTERN = "western";

  /** Without replicas in the west. */
  private static final String EASTERN = "eastern";

  @TempDir static Path files;

  private final Map<String, CqlSession> sessions = new HashMap<>();
  private LocalCluster cluster;

  @BeforeAll
  void startCluster() throws Exception {
    Path topology = Files.createDirectories(files.resolve("topology"));
    Files.writeString(topology.resolve("cassandra-topology.properties"), PLACES);
    Path folder = TestFork.clusters().resolve("strong-placement");
    LocalCluster.removeIfPresent(folder);
    NodeSpec first =
        ShortLived.nodeAt("127.0.58.1")
            .withTokens(8)
            .withClassPathEntry(topology)
            .withCassandraSetting("endpoint_snitch", "PropertyFileSnitch")
            .withIsoldeSetting("strong_timeout", "10s");
    cluster = LocalCluster.create(folder, 4, first);
    cluster.start();
    connect();
    create(BOTH, "'east': 2, 'west': 1, 'leaders': 'east'");
    create(WESTERN, "'replication_factor': 3, 'leaders': 'west'");
    create(EASTERN, "'east': 2");
    for (String keyspace : List.of(BOTH, WESTERN, EASTERN)) {
      on(1, "CREATE TABLE %s.t (id int PRIMARY KEY, v int)".formatted(keyspace));
    }
    cluster.awaitSchemaAgreement(PATIENCE);
  }

  @AfterAll
  void removeCluster() {
    sessions.values().forEach(CqlSession::close);
    if (cluster != null) {
      cluster.remove();
    }
  }

  private void connect() {
    for (String datacenter : List.of("east", "west")) {
      CqlSession before =
          sessions.put(
              datacenter,
              new IsoldeSessionBuilder()
                  .addContactPoints(cluster.contactPoints())
                  .withLocalDatacenter(datacenter)
                  .withConfigLoader(
                      DriverConfigLoader.programmaticBuilder()
                          .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, PATIENCE)
                          .withDuration(
                              DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(200))
                          .withDuration(
                              DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(1))
                          .build())
                  .build());
      if (before != null) {
        before.close();
      }
    }
  }

  private void create(String keyspace, String options) {
    on(
        1,
        "CREATE KEYSPACE %s WITH replication = {'class': 'ReplicatedLogStrategy', %s}"
            .formatted(keyspace, options));
  }

  private String address(int node) {
    return cluster.node(node).spec().address();
  }

  private ResultSet on(int node, String cql) {
    return on(node, DefaultConsistencyLevel.LOCAL_QUORUM, cql);
  }

  private ResultSet on(int node, DefaultConsistencyLevel level, String cql) {
    CqlSession session = sessions.get(node == WEST ? "west" : "east");
    Node known =
        session.getMetadata().getNodes().values().stream()
            .filter(each -> each.getEndPoint().toString().contains(address(node) + ":"))
            .findFirst()
            .orElseThrow();
    return session.execute(
        SimpleStatement.newInstance(cql).setConsistencyLevel(level).setNode(known));
  }

  private List<Row> groups(int node, String keyspace) {
    return on(node, "SELECT * FROM isolde.replica_groups WHERE keyspace_name = '" + keyspace + "'")
        .all();
  }

  private int number(String address) {
    return IntStream.rangeClosed(1, 4)
        .filter(node -> address.replaceFirst(":\\d+$", "").equals(address(node)))
        .findFirst()
        .orElseThrow();
  }

  /** Who is a member of each group. */
  private List<Set<Integer>> members(String keyspace) {
    return groups(1, keyspace).stream()
        .map(
            group ->
                group.getList("members", String.class).stream()
                    .map(this::number)
                    .collect(Collectors.<Integer, Set<Integer>>toCollection(TreeSet::new)))
        .toList();
  }

  /** Asks one that is a member of all groups. */
  private void awaitLedBy(Set<Integer> nodes, int askedNode, String keyspace) {
    Await.until(
        keyspace + " is led by one of " + nodes,
        () ->
            groups(askedNode, keyspace).stream()
                .map(group -> group.getString("leader"))
                .allMatch(leader -> leader != null && nodes.contains(number(leader))));
  }

  @Test
  @Order(1)
  void whenAKeyspaceIsCreatedThenEachGroupSpansRacksAndDatacentersAndIsLedWhereWanted() {
    for (String keyspace : List.of(BOTH, WESTERN)) {
      assertThat(members(keyspace))
          .isNotEmpty()
          .allSatisfy(members -> assertThat(members).hasSize(3).contains(ALONE, WEST));
    }
    assertThat(members(EASTERN))
        .isNotEmpty()
        .allSatisfy(members -> assertThat(members).hasSize(2).contains(ALONE));
    awaitLedBy(EAST, ALONE, BOTH);
    awaitLedBy(Set.of(WEST), ALONE, WESTERN);
  }

  @Test
  @Order(1)
  void whenCassandraDescribesTheRingThenItSeesTheReplicasOfTheGroups() {
    try (var tool = cluster.node(1).nodeTool()) {
      List<?> ranges =
          (List<?>)
              tool.invoke("org.apache.cassandra.db:type=StorageService", "describeRingJMX", BOTH);
      assertThat(ranges)
          .isNotEmpty()
          .allSatisfy(
              range ->
                  assertThat(range.toString())
                      .contains("rack:r2", "datacenter:west", address(ALONE), address(WEST)));
    }
  }

  @Test
  @Order(1)
  void whenOptionsCanNotBeFulfilledThenTheKeyspaceIsRefusedWithTheReason() {
    refused("'north': 1", "no datacenter 'north'; there are [east, west]");
    refused("'west': 2", "'west' has 1 nodes, too few for 2 replicas");
    refused("'replication_factor': 5", "as many nodes as replicas, not 4 for 5");
    refused("'east': 2, 'leaders': 'west'", "'west', which has no replicas; [east] have some");
    refused("'replication_factor': 3, 'leaders': 'north'", "no datacenter 'north'");
    refused("'east': 2, 'replication_factor': 3", "have 2 replicas together, not 3");
    refused("'replication_factor': 3, 'durabilty': 'batch'", "'durabilty' is neither an option");
  }

  private void refused(String options, String why) {
    assertThatThrownBy(() -> create("refused", options))
        .isInstanceOf(DriverException.class)
        .hasMessageContaining(why);
  }

  @Test
  @Order(2)
  void whenALevelIsLocalThenItIsLinearizableAllTheSameButForLocalOne() {
    for (int i = 1; i <= 30; i++) {
      on(i % 2 == 0 ? 1 : WEST, "INSERT INTO both_sides.t (id, v) VALUES (%d, 1)".formatted(i));
      for (DefaultConsistencyLevel level :
          List.of(
              DefaultConsistencyLevel.LOCAL_QUORUM,
              DefaultConsistencyLevel.LOCAL_SERIAL,
              DefaultConsistencyLevel.QUORUM)) {
        String read = "SELECT v FROM both_sides.t WHERE id = " + i;
        assertThat(on(WEST, level, read).one()).as("%s %d", level, i).isNotNull();
        assertThat(on(1 + i % 3, level, read).one()).as("%s %d", level, i).isNotNull();
      }
    }
    Await.until(
        "the replica of the west has it",
        () ->
            on(WEST, DefaultConsistencyLevel.LOCAL_ONE, "SELECT v FROM both_sides.t WHERE id = 30")
                    .one()
                != null);
    on(WEST, "INSERT INTO eastern.t (id, v) VALUES (1, 1)");
    String read = "SELECT v FROM eastern.t WHERE id = 1";
    assertThat(on(WEST, read).one()).isNotNull();
    assertThatThrownBy(() -> on(WEST, DefaultConsistencyLevel.LOCAL_ONE, read))
        .isInstanceOf(DriverException.class)
        .hasMessageContaining("Not enough replicas available for query at consistency LOCAL_ONE");
    Await.until(
        "a replica of the east has it",
        () -> on(WEST, DefaultConsistencyLevel.ONE, read).one() != null);
  }

  @Test
  @Order(3)
  void whenReplicasMoveThenTheyStayWhereTheyAreWantedAndNothingElseMoves() {
    assertThat(rebalance("")).isZero();
    assertThat(rebalance(" WITHOUT '%s'".formatted(address(3)))).isEqualTo(1);
    assertThat(members(BOTH)).allSatisfy(each -> assertThat(each).containsExactly(1, ALONE, WEST));
    assertThat(rebalance("")).isEqualTo(1);
    assertThat(members(BOTH))
        .contains(Set.of(ALONE, 3, WEST))
        .allSatisfy(each -> assertThat(each).hasSize(3).contains(ALONE, WEST));
    awaitLedBy(EAST, ALONE, BOTH);
    for (int i = 1; i <= 30; i++) {
      assertThat(on(1 + i % 4, "SELECT v FROM both_sides.t WHERE id = " + i).one()).isNotNull();
    }
  }

  private int rebalance(String without) {
    int moved =
        on(1, "ALTER KEYSPACE both_sides REBALANCE" + without).one().getInt("moved_replicas");
    cluster.awaitSchemaAgreement(PATIENCE);
    return moved;
  }

  @Test
  @Order(4)
  void whenTheWestIsLostThenTheEastGoesOnAndTheWestLeadsAgainWhenItIsBack() {
    cluster.node(WEST).kill();
    goesOn(BOTH, 1, 100);
    goesOn(WESTERN, 3, 100);
    awaitLedBy(EAST, ALONE, WESTERN);
    cluster.start();
    connect();
    awaitLedBy(Set.of(WEST), ALONE, WESTERN);
    assertThat(EAST)
        .anySatisfy(
            node ->
                assertThat(on(node, "SELECT * FROM isolde.leadership_events").all())
                    .anySatisfy(
                        event -> {
                          assertThat(event.getString("cause")).isEqualTo("DATACENTER");
                          assertThat(event.getString("transfer_target")).contains(address(WEST));
                        }));
    assertThat(on(WEST, "SELECT v FROM western.t WHERE id = 100").one()).isNotNull();
  }

  private ResultSet lead(String keyspace, int node) {
    return on(1, "ALTER KEYSPACE %s LEADER '%s'".formatted(keyspace, address(node)));
  }

  /** Statements may fail until there is a new leader. */
  private void goesOn(String keyspace, int node, int id) {
    Await.until(
        "a row of " + keyspace + " is written",
        () -> {
          on(node, "INSERT INTO %s.t (id, v) VALUES (%d, 1)".formatted(keyspace, id));
          return true;
        });
    assertThat(on(node, "SELECT v FROM %s.t WHERE id = %d".formatted(keyspace, id)).one())
        .isNotNull();
  }

  @Test
  @Order(5)
  void whenARackIsLostThenTheRestGoesOnAndIsLedInTheEast() {
    cluster.node(ALONE).kill();
    goesOn(BOTH, 1, 200);
    awaitLedBy(Set.of(1, 3), WEST, BOTH);
    cluster.start();
    connect();
    assertThat(on(ALONE, "SELECT v FROM both_sides.t WHERE id = 200").one()).isNotNull();
    Await.until(
        "it has caught up and leads",
        () -> {
          lead(BOTH, ALONE);
          return true;
        });
    awaitLedBy(Set.of(ALONE), WEST, BOTH);
  }

  @Test
  @Order(6)
  void whenAnOperatorChoosesANodeElsewhereThenThereIsAWarningAndTheNodeGoesOnLeading() {
    awaitLedBy(EAST, ALONE, BOTH);
    assertThat(lead(BOTH, WEST).getExecutionInfo().getWarnings())
        .singleElement()
        .asString()
        .contains("is not in datacenter 'east'");
    awaitLedBy(Set.of(WEST), ALONE, BOTH);
    Instant end = Instant.now().plusSeconds(10);
    while (Instant.now().isBefore(end)) {
      assertThat(groups(WEST, BOTH))
          .extracting(group -> number(group.getString("leader")))
          .containsOnly(WEST);
    }
  }
}
