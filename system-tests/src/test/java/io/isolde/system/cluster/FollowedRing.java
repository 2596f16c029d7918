// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.cluster;

import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsoldeException;
import io.isolde.cluster.LocalNode;
import io.isolde.system.Await;
import io.isolde.system.TestCluster;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.StreamSupport;

/** A strong keyspace whose replicas follow the ring without a command, while it is written. */
final class FollowedRing implements AutoCloseable {
  /** Of nodes with which this works. */
  static final String REBALANCE_AFTER = "2s";

  private static final String GROUPS =
      "SELECT members, state FROM isolde.replica_groups WHERE keyspace_name = 'elastic'";

  private final TestCluster cluster;
  private final AcknowledgedWrites writes;

  private FollowedRing(TestCluster cluster) {
    this.cluster = cluster;
    this.writes =
        AcknowledgedWrites.start(
            "elastic",
            id ->
                cluster
                    .session()
                    .execute(
                        SimpleStatement.newInstance("INSERT INTO elastic.t (id) VALUES (?)", id)
                            .setIdempotent(true)));
  }

  static FollowedRing start(TestCluster cluster) {
    cluster.change(
        "CREATE KEYSPACE elastic WITH replication = {'class': 'ReplicatedLogStrategy',"
            + " 'replication_factor': 3, 'groups': 3}",
        "CREATE TABLE elastic.t (id int PRIMARY KEY)");
    var unused =
        cluster.on(
            1, "ALTER KEYSPACE elastic LEADER '%s'".formatted(cluster.node(1).spec().address()));
    return new FollowedRing(cluster);
  }

  /** Waits until a node that has joined has its share of the nine replicas on four nodes. */
  void awaitReplicasAt(String address) {
    Await.until("replicas move to " + address, () -> replicasAt(address) == 2);
    awaitOneLeaderEach();
    writes.awaitMore();
  }

  /** Waits until a node that has left is not meant to have any. */
  void awaitNoReplicaAt(String address) {
    Await.until("replicas move from " + address, () -> replicasAt(address) == 0);
    awaitOneLeaderEach();
    writes.awaitMore();
  }

  /** A node that was down leads again when all have been up for a while. */
  void awaitThatANodeLeadsAgain(int number) {
    LocalNode node = cluster.node(number);
    String address = node.spec().address();
    node.kill();
    Await.until("others lead", () -> !leaders().contains(address));
    node.start();
    awaitOneLeaderEach();
    writes.awaitMore();
  }

  /** Of the three groups, no two are to have the same leader. */
  private void awaitOneLeaderEach() {
    Await.until("leaders are spread", () -> leaders().size() == 3);
  }

  /** As the configuration has them. */
  private Set<String> leaders() {
    return cluster
        .on(1, "SELECT leader FROM isolde.groups WHERE keyspace_name = 'elastic'")
        .all()
        .stream()
        .map(row -> row.getString("leader"))
        .collect(toSet());
  }

  private long replicasAt(String address) {
    return cluster.on(1, GROUPS).all().stream().filter(group -> hasMember(group, address)).count();
  }

  /** As the layout in the schema says, which is what the node knows that was asked. */
  private static boolean hasMember(Row group, String address) {
    return group.getList("members", String.class).stream()
        .anyMatch(member -> member.startsWith(address + ":"));
  }

  /**
   * Each of two commands moves replicas away from the node that the other one keeps. The layout in
   * the schema must say of each group what its log says: those who are no members ask by it.
   */
  void rebalanceThroughTwoNodes() {
    List<CompletableFuture<Boolean>> commands =
        List.of(
            CompletableFuture.supplyAsync(() -> isRebalanced(2, 1)),
            CompletableFuture.supplyAsync(() -> isRebalanced(3, 2)));
    assertThat(commands.stream().map(CompletableFuture::join)).contains(true);
    cluster.awaitSchema();
    Await.until(
        "the schema says where replicas are",
        () ->
            cluster.session().getMetadata().getNodes().values().stream()
                .allMatch(this::hasWhatTheSchemaSays));
    writes.awaitMore();
  }

  private boolean isRebalanced(int through, int without) {
    String address = cluster.node(without).spec().address();
    try {
      var unused =
          cluster.on(through, "ALTER KEYSPACE elastic REBALANCE WITHOUT '" + address + "'");
      return true;
    } catch (DriverException e) {
      assertThat(IsoldeException.find(e).orElseThrow(() -> e).code())
          .as("the other one took longer than it waits: %s", e)
          .isEqualTo(ErrorCode.UNAVAILABLE);
      return false;
    }
  }

  private boolean hasWhatTheSchemaSays(Node node) {
    InetSocketAddress address = (InetSocketAddress) node.getEndPoint().resolve();
    SimpleStatement ofNode =
        SimpleStatement.newInstance(GROUPS).setNode(node).setTimeout(Duration.ofSeconds(20));
    List<Row> groups = cluster.session().execute(ofNode).all();
    assertThat(groups).hasSize(3);
    return groups.stream()
        .allMatch(
            group ->
                hasMember(group, address.getHostString())
                    != "ELSEWHERE".equals(group.getString("state")));
  }

  void assertNothingLost() {
    writes.close();
    writes.assertAllIn(
        StreamSupport.stream(
                cluster.session().execute("SELECT id FROM elastic.t").spliterator(), false)
            .map(row -> row.getInt(0))
            .collect(toSet()));
  }

  @Override
  public void close() {
    writes.close();
  }
}
