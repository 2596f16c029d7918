// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.strong;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.ExecutionInfo;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.system.Await;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

/** Sessions that send requests to the leaders of a strong keyspace of three groups. */
final class RoutedRequests {
  private static final int KEYS = 120;
  private static final int GROUPS = 3;

  /** Enough for an election, and less than it takes the driver to close a silent connection. */
  private static final Duration TIMEOUT = Duration.ofSeconds(15);

  private static final String KEYSPACE = "routed";

  private final StrongCluster nodes;
  private final CqlSession session;
  private final PreparedStatement write;
  private final PreparedStatement read;
  private int passedOn;
  private final Set<Node> asked = new HashSet<>();

  private RoutedRequests(StrongCluster nodes, CqlSession session) {
    this.nodes = nodes;
    this.session = session;
    this.write = session.prepare("UPDATE routed.t SET v = ? WHERE p = ?");
    this.read = session.prepare("SELECT v FROM routed.t WHERE p = ?");
  }

  static void check(StrongCluster nodes) {
    nodes.execute(
        "CREATE KEYSPACE routed WITH replication = {'class':"
            + " 'io.isolde.replication.ReplicatedLogStrategy', 'replication_factor': 3,"
            + " 'groups': 3}");
    nodes.execute("CREATE TABLE routed.t (p int PRIMARY KEY, v int)");
    try (CqlSession session = nodes.connect()) {
      RoutedRequests routed = new RoutedRequests(nodes, session);
      routed.checkThatLeadersAreLearned();
      routed.checkThatOthersGoAnywhere();
      for (int node = 1; node <= 3; node++) {
        routed.checkThatANewLeaderIsLearnedFromItsGroupsFirstAnswers(node);
      }
      routed.checkThatALeaderThatHangsCostsNoTimeOut();
      routed.checkThatTransactionalTablesAreWrittenToAsWell();
      routed.checkThatAKilledLeaderIsReplaced();
    }
    nodes.execute("DROP KEYSPACE routed");
  }

  private void writeAndReadAll(int v) {
    passedOn = 0;
    asked.clear();
    for (int p = 0; p < KEYS; p++) {
      see(session.execute(repeatable(write.bind(v, p))).getExecutionInfo());
      var answer = session.execute(repeatable(read.bind(p)));
      see(answer.getExecutionInfo());
      assertThat(answer.one().getInt("v")).isEqualTo(v);
    }
  }

  private static BoundStatement repeatable(BoundStatement request) {
    return request.setIdempotent(true).setTimeout(TIMEOUT);
  }

  private void see(ExecutionInfo answer) {
    asked.add(answer.getCoordinator());
    passedOn += answer.getIncomingPayload().containsKey("isolde-leader") ? 1 : 0;
  }

  private void checkThatLeadersAreLearned() {
    writeAndReadAll(0);
    assertThat(passedOn).as("who leads is not known in the beginning").isPositive();
    awaitDirect(1);
  }

  /** Leaders may change at any time, so it may take some rounds. */
  private void awaitDirect(int v) {
    Await.until(
        "all requests go to leaders",
        () -> {
          writeAndReadAll(v);
          return passedOn == 0;
        });
  }

  private void checkThatOthersGoAnywhere() {
    asked.clear();
    for (int p = 0; p < KEYS; p++) {
      see(
          session
              .execute(read.bind(7).setConsistencyLevel(DefaultConsistencyLevel.ONE))
              .getExecutionInfo());
    }
    assertThat(asked).hasSize(3);
  }

  private void checkThatANewLeaderIsLearnedFromItsGroupsFirstAnswers(int node) {
    String address = nodes.cluster.node(node).spec().address();
    nodes.on(1, "ALTER KEYSPACE routed LEADER '" + address + "'");
    Await.until("it leads all groups", () -> leads(address));
    writeAndReadAll(2 + node);
    assertThat(passedOn).as("an answer of each group").isBetween(0, GROUPS);
    awaitDirect(5 + node);
    assertThat(asked).containsExactly(nodes.nodeOf(session, node));
  }

  private boolean leads(String address) {
    for (int node = 1; node <= 3; node++) {
      String select = "SELECT leader FROM isolde.replica_groups WHERE keyspace_name = ?";
      boolean isKnown =
          nodes.on(node, select, KEYSPACE).all().stream()
              .allMatch(row -> address.equals(row.getString("leader")));
      if (!isKnown) {
        return false;
      }
    }
    return true;
  }

  /** It still has its copy of what another node has passed on, and comes back with that. */
  private void checkThatALeaderThatHangsCostsNoTimeOut() {
    nodes.on(1, "ALTER KEYSPACE routed LEADER '" + nodes.cluster.node(3).spec().address() + "'");
    awaitDirect(15);
    nodes.cluster.node(3).pause();
    try {
      writeAndReadAll(16); // Nobody gets an answer of that node.
      writeAndReadAll(17);
    } finally {
      nodes.cluster.node(3).resume();
    }
    Await.until("node 3 knows who leads", () -> passesOnAt(3));
    for (int p = 0; p < KEYS; p++) {
      assertThat(session.execute(read.bind(p)).one().getInt("v"))
          .as("a late copy of an older write is not applied")
          .isEqualTo(17);
    }
  }

  private boolean passesOnAt(int node) {
    try {
      nodes.on(node, "SELECT v FROM routed.t WHERE p = 1");
      return true;
    } catch (DriverException e) {
      return false;
    }
  }

  /** Such a table refuses names, since its writes are transactions. */
  private void checkThatTransactionalTablesAreWrittenToAsWell() {
    nodes.execute("CREATE TABLE routed.u (p int PRIMARY KEY, v int)");
    nodes.execute("ENABLE TRANSACTIONS ON routed.u");
    PreparedStatement insert = session.prepare("INSERT INTO routed.u (p, v) VALUES (?, ?)");
    for (int p = 0; p < 10; p++) {
      session.execute(insert.bind(p, p).setIdempotent(true));
    }
    SimpleStatement select =
        SimpleStatement.newInstance("SELECT p FROM routed.u")
            .setConsistencyLevel(DefaultConsistencyLevel.SERIAL); // sees what was answered before
    assertThat(session.execute(select).all()).hasSize(10);
  }

  private void checkThatAKilledLeaderIsReplaced() {
    nodes.cluster.node(3).kill();
    writeAndReadAll(20);
    awaitDirect(21);
    assertThat(asked).doesNotContain(nodes.nodeOf(session, 3));
    nodes.restart(3);
  }
}
