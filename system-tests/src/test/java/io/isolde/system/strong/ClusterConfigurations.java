// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.ClusterConfiguration;
import io.isolde.client.Isolde;
import io.isolde.system.Await;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;

/** What the configuration says while keyspaces and leaders come and go. */
final class ClusterConfigurations {
  private static final String KEYSPACE = "configured";

  /** After a change nodes look again after five seconds. */
  private static final long LONGER_THAN_A_LOOK_MILLIS = 7_000;

  private final StrongCluster nodes;

  private ClusterConfigurations(StrongCluster nodes) {
    this.nodes = nodes;
  }

  static void check(StrongCluster nodes) throws InterruptedException {
    ClusterConfigurations checked = new ClusterConfigurations(nodes);
    checked.checkThatNodesRegisterThemselves();
    WatchedConfiguration watched = WatchedConfiguration.start(nodes, KEYSPACE);
    checked.checkThatLeadersRegisterTheirGroups();
    checked.checkThatANewLeaderIsReported();
    checked.checkThatADroppedKeyspaceGoes();
    checked.checkThatARestIsARest();
    watched.checkThatEachVersionWasHeardOf();
    checked.checkTheHistory();
    checked.checkThatWithoutAMajorityThereIsAnError();
  }

  private ClusterConfiguration now() {
    return Isolde.on(nodes.session).configuration();
  }

  private String address(int node) {
    return nodes.cluster.node(node).spec().address();
  }

  private void checkThatNodesRegisterThemselves() {
    Await.until("all nodes are up", () -> upNodes() == 3);
    for (ClusterConfiguration.Node node : now().nodes()) {
      assertThat(node.cqlAddress()).isEqualTo(node.address() + ":9042");
      assertThat(node.datacenter()).isEqualTo("datacenter1");
    }
    Set<String> addresses = new HashSet<>();
    now().nodes().forEach(node -> addresses.add(node.address()));
    assertThat(addresses).containsExactlyInAnyOrder(address(1), address(2), address(3));
  }

  private long upNodes() {
    return now().nodes().stream().filter(ClusterConfiguration.Node::isUp).count();
  }

  private void checkThatLeadersRegisterTheirGroups() {
    nodes.execute(
        "CREATE KEYSPACE configured WITH replication = {'class':"
            + " 'io.isolde.replication.ReplicatedLogStrategy', 'replication_factor': 3}");
    Await.until("the group has registered", () -> now().groupsOf(KEYSPACE).size() == 1);
    awaitTrue();
    for (int node = 1; node <= 3; node++) {
      Row group =
          nodes.on(node, "SELECT * FROM isolde.groups WHERE keyspace_name = ?", KEYSPACE).one();
      Row here = nodes.group(node, KEYSPACE);
      assertThat(group.getUuid("group_id")).hasToString(here.getString("group_id"));
      assertThat(group.getList("ranges", String.class))
          .isEqualTo(here.getList("ranges", String.class));
      assertThat(group.getList("members", String.class))
          .containsExactlyInAnyOrder(address(1), address(2), address(3));
      assertThat(group.getString("durability")).isEqualTo("batch");
    }
  }

  /** Until the configuration says of a group what the group says. */
  private void awaitTrue() {
    Await.until(
        "leader and term are true",
        () -> {
          int leader = nodes.leader(1, KEYSPACE);
          Row here = nodes.group(leader, KEYSPACE);
          ClusterConfiguration now = now();
          ClusterConfiguration.Group group = now.groupsOf(KEYSPACE).get(0);
          return group.isLed()
              && group.term() == here.getLong("term")
              && now.leaderOf(group).orElseThrow().address().equals(address(leader));
        });
  }

  private void checkThatANewLeaderIsReported() {
    int killed = nodes.leader(1, KEYSPACE);
    int other = killed == 1 ? 2 : 1;
    ClusterConfiguration before = now();
    nodes.cluster.node(killed).kill();
    Await.until(
        "another one leads",
        () -> {
          ClusterConfiguration after = now();
          ClusterConfiguration.Group group = after.groupsOf(KEYSPACE).get(0);
          return group.term() > before.groupsOf(KEYSPACE).get(0).term()
              && !after.leaderOf(group).orElseThrow().address().equals(address(killed));
        });
    assertThat(now().version()).isGreaterThan(before.version());
    Await.until("the killed node is down", () -> upNodes() == 2);
    assertThat(nodes.on(other, "SELECT * FROM isolde.ring").all()).hasSize(3);
    nodes.restart(killed);
    Await.until("it is up again", () -> upNodes() == 3);
    awaitTrue();
  }

  private void checkThatADroppedKeyspaceGoes() {
    nodes.execute("DROP KEYSPACE configured");
    Await.until("its group is gone", () -> now().groupsOf(KEYSPACE).isEmpty());
  }

  /** Nobody reports what is known, though all nodes look again after a change. */
  private void checkThatARestIsARest() throws InterruptedException {
    long version = now().version();
    Thread.sleep(LONGER_THAN_A_LOOK_MILLIS);
    assertThat(now().version()).isEqualTo(version);
  }

  private void checkTheHistory() {
    List<Row> rows = nodes.on(2, "SELECT * FROM isolde.configuration_history").all();
    long last = now().version();
    assertThat(rows.stream().map(row -> row.getLong("version")).toList())
        .containsExactlyElementsOf(LongStream.rangeClosed(1, last).boxed().toList());
    assertThat(rows.stream().map(row -> row.getString("change")).toList())
        .contains(
            "NODE_REGISTERED",
            "GROUP_REGISTERED",
            "NEW_LEADER",
            "NODE_DOWN",
            "NODE_UP",
            "GROUP_REMOVED");
    assertThat(rows).allSatisfy(row -> assertThat(row.getInstant("at")).isNotNull());
  }

  /** What one node believes is never given as the configuration, once its lease is over. */
  private void checkThatWithoutAMajorityThereIsAnError() {
    nodes.cluster.node(2).kill();
    nodes.cluster.node(3).kill();
    try {
      for (String table : List.of("ring", "groups", "configuration_history")) {
        Await.until("it is refused", () -> isRefused("SELECT * FROM isolde." + table));
      }
    } finally {
      nodes.restart(2);
      nodes.restart(3);
    }
    Await.until("all nodes are up again", () -> upNodes() == 3);
  }

  private boolean isRefused(String select) {
    try {
      nodes.on(1, select);
      return false;
    } catch (DriverException e) {
      assertThat(e).hasMessageContaining("code=ORACLE_UNAVAILABLE");
      return true;
    }
  }
}
