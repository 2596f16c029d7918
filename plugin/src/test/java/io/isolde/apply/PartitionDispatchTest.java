// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.testing.CassandraInProcess;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.IMutation;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.WriteType;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.dht.Token;
import org.apache.cassandra.locator.AbstractReplicationStrategy;
import org.apache.cassandra.locator.EndpointsForToken;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.Replica;
import org.apache.cassandra.locator.ReplicaPlan;
import org.apache.cassandra.service.AbstractWriteResponseHandler;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.utils.FBUtilities;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** When the oracle's leader may be told that it and this node are a quorum. */
class PartitionDispatchTest {
  private static final String DATA_CENTER = "datacenter1";

  private static InetAddressAndPort self;
  private static InetAddressAndPort leader;
  private static InetAddressAndPort third;
  private static InetAddressAndPort fourth;

  @BeforeAll
  static void start() throws UnknownHostException {
    CassandraInProcess.start();
    for (int replicas = 1; replicas <= 4; replicas++) {
      CassandraInProcess.execute(
          "CREATE KEYSPACE IF NOT EXISTS of_%d WITH replication =".formatted(replicas)
              + " {'class': 'SimpleStrategy', 'replication_factor': %d}".formatted(replicas));
      CassandraInProcess.execute(
          "CREATE TABLE IF NOT EXISTS of_%d.t (id int PRIMARY KEY, v int)".formatted(replicas));
    }
    self = FBUtilities.getBroadcastAddressAndPort();
    leader = InetAddressAndPort.getByName("127.0.99.2");
    third = InetAddressAndPort.getByName("127.0.99.3");
    fourth = InetAddressAndPort.getByName("127.0.99.4");
  }

  @Test
  void whenThisNodeHasWrittenItThenTheLeaderMakesAQuorumOfThree() {
    PartitionDispatch sending = sending(3, List.of(self, leader, third), List.of(), List.of());

    assertThat(sending.isQuorumWith(leader)).isTrue();
    assertThat(sending.isOnQuorumWith(leader)).as("not written yet").isFalse();
    sending.writeHere();
    assertThat(sending.isOnQuorumWith(leader)).isTrue();
  }

  /** Its batch item has only what it is alive for. */
  @Test
  void whenThePlanHasTheLeaderAsDownThenItDoesNotCount() {
    PartitionDispatch sending =
        sending(3, List.of(self, leader, third), List.of(), List.of(leader));

    sending.writeHere();
    assertThat(sending.near().endpoints()).containsExactly(third);
    assertThat(sending.isQuorumWith(leader)).isFalse();
    assertThat(sending.isOnQuorumWith(leader)).isFalse();
  }

  @Test
  void whenANodeIsJoiningThenTwoAreNoQuorum() {
    PartitionDispatch sending =
        sending(3, List.of(self, leader, third), List.of(fourth), List.of());

    sending.writeHere();
    assertThat(sending.isOnQuorumWith(leader)).isFalse();
  }

  @Test
  void whenThisNodeIsNoReplicaThenTheLeaderIsAQuorumOnlyIfItIsTheOnlyOne() {
    PartitionDispatch three = sending(3, List.of(leader, third, fourth), List.of(), List.of());
    PartitionDispatch one = sending(1, List.of(leader), List.of(), List.of());

    three.writeHere();
    one.writeHere();
    assertThat(three.isOnQuorumWith(leader)).isFalse();
    assertThat(one.isOnQuorumWith(leader)).isTrue();
  }

  @Test
  void whenThereAreFourReplicasThenTwoAreNoQuorum() {
    PartitionDispatch sending =
        sending(4, List.of(self, leader, third, fourth), List.of(), List.of());

    sending.writeHere();
    assertThat(sending.isOnQuorumWith(leader)).isFalse();
  }

  @Test
  void whenBothReplicasHaveItThenThatIsAQuorumOfTwo() {
    PartitionDispatch sending = sending(2, List.of(self, leader), List.of(), List.of());

    sending.writeHere();
    assertThat(sending.isOnQuorumWith(leader)).isTrue();
  }

  /** It could come after a TRUNCATE. */
  @Test
  void whenItIsLateThenItIsNotWrittenHere() {
    long lateNanos = 2 * DatabaseDescriptor.getWriteRpcTimeout(TimeUnit.NANOSECONDS);
    Dispatcher.RequestTime late =
        new Dispatcher.RequestTime(System.nanoTime() - lateNanos, System.nanoTime() - lateNanos);
    PartitionDispatch sending =
        sending(3, List.of(self, leader, third), List.of(), List.of(), late);

    sending.writeHere();
    assertThat(sending.isOnQuorumWith(leader)).isFalse();
  }

  private static PartitionDispatch sending(
      int replicas,
      List<InetAddressAndPort> natural,
      List<InetAddressAndPort> pending,
      List<InetAddressAndPort> down) {
    return sending(
        replicas, natural, pending, down, Dispatcher.RequestTime.forImmediateExecution());
  }

  private static PartitionDispatch sending(
      int replicas,
      List<InetAddressAndPort> natural,
      List<InetAddressAndPort> pending,
      List<InetAddressAndPort> down,
      Dispatcher.RequestTime time) {
    Keyspace keyspace = Keyspace.open("of_" + replicas);
    PartitionUpdate.SimpleBuilder update =
        PartitionUpdate.simpleBuilder(keyspace.getColumnFamilyStore("t").metadata(), 1);
    update.timestamp(1).row().add("v", 1);
    Mutation mutation = new Mutation(update.build());
    Token token = mutation.key().getToken();
    AbstractReplicationStrategy strategy = keyspace.getReplicationStrategy();
    EndpointsForToken all =
        endpoints(token, Stream.concat(natural.stream(), pending.stream()).toList());
    EndpointsForToken live = all.filter(replica -> !down.contains(replica.endpoint()));
    ReplicaPlan.ForWrite plan =
        new ReplicaPlan.ForWrite(
            keyspace, strategy, ConsistencyLevel.QUORUM, endpoints(token, pending), all, live, all);
    AbstractWriteResponseHandler<IMutation> handler =
        strategy.getWriteResponseHandler(plan, () -> {}, WriteType.SIMPLE, () -> null, time);
    return new PartitionDispatch(mutation, plan, handler, DATA_CENTER, time);
  }

  private static EndpointsForToken endpoints(Token token, List<InetAddressAndPort> nodes) {
    return EndpointsForToken.copyOf(
        token, nodes.stream().map(node -> Replica.fullReplica(node, token, token)).toList());
  }
}
