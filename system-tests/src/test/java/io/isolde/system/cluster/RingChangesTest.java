// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.cluster.LocalCluster;
import io.isolde.cluster.NodeTool;
import io.isolde.system.Await;
import io.isolde.system.JoiningNode;
import io.isolde.system.NodeLogs;
import io.isolde.system.Results;
import io.isolde.system.TestCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A node joins the ring, and leaves it again, while money moves and is counted: replicas that are
 * still getting their data, or have just got it, must not show in any snapshot. Replicas of a
 * strong keyspace, and their leaders, follow the ring without a command.
 */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RingChangesTest {
  private static final String JOINING = "127.0.55.4";

  private TestCluster cluster;
  private LocalCluster fourth;

  @BeforeAll
  void startCluster() {
    cluster =
        TestCluster.start(
            "ring-changes",
            3,
            "127.0.55.1",
            spec ->
                spec.withCassandraSetting("commitlog_sync", "periodic")
                    .withCassandraSetting("commitlog_sync_period", "10000ms")
                    .withIsoldeSetting("strong_rebalance_after", FollowedRing.REBALANCE_AFTER));
    cluster.change(
        "CREATE KEYSPACE bank WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 3}",
        "CREATE TABLE bank.accounts (id int PRIMARY KEY, balance int)",
        "ENABLE TRANSACTIONS ON bank.accounts");
  }

  @AfterAll
  void removeClusters() {
    cluster.disconnect();
    if (fourth != null) {
      fourth.remove();
    }
    cluster.close();
  }

  @Test
  void whenInstancesOfAnApplicationMakeTheirTablesAtOnceThenThereIsOneOfEach() {
    new CreatedAtOnce(cluster).check();
  }

  @Test
  void whenANodeJoinsAndLeavesThenEverySnapshotAddsUp() throws Exception {
    try (OngoingTransfers transfers = OngoingTransfers.start(cluster.session());
        FollowedRing strong = FollowedRing.start(cluster)) {
      transfers.awaitMore();

      join();
      transfers.awaitMore();
      assertThat(accountsThrough(JOINING)).isEqualTo(OngoingTransfers.ACCOUNTS);
      strong.awaitReplicasAt(JOINING);
      strong.rebalanceThroughTwoNodes();

      try (NodeTool tool = fourth.node(1).nodeTool()) {
        tool.decommission();
      }
      transfers.awaitMore();
      strong.awaitNoReplicaAt(JOINING);
      strong.awaitThatANodeLeadsAgain(2);
      strong.assertNothingLost();
      transfers.end();
    }
    for (int node = 1; node <= 3; node++) {
      SimpleStatement all =
          SimpleStatement.newInstance("SELECT sum(balance) FROM bank.accounts")
              .setConsistencyLevel(ConsistencyLevel.QUORUM);
      assertThat(Results.lines(cluster.on(node, all)))
          .containsExactly(Integer.toString(OngoingTransfers.TOTAL));
    }
  }

  private void join() {
    fourth = JoiningNode.create("ring-changes-fourth", cluster.node(1), JOINING);
    fourth.start();
    Await.until("the client knows it", () -> accountsThrough(JOINING) >= 0);
  }

  /** How many accounts are found through a node; -1 if the client does not know it. */
  private int accountsThrough(String address) {
    return cluster.session().getMetadata().getNodes().values().stream()
        .filter(node -> node.getEndPoint().toString().contains(address))
        .findFirst()
        .map(
            node ->
                cluster
                    .session()
                    .execute(
                        SimpleStatement.newInstance("SELECT id FROM bank.accounts")
                            .setConsistencyLevel(ConsistencyLevel.QUORUM)
                            .setNode(node))
                    .all()
                    .size())
        .orElse(-1);
  }
}
