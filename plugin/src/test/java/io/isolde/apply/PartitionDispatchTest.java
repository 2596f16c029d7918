// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.testing.CassandraInProcess;
import java.net.UnknownHostException;
import java.util.List;
import java.util.concurrent.TimeUnit;
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

/** A mutation on its way to its replicas. */
class PartitionDispatchTest {
  private static final String DATA_CENTER = "datacenter1";

  private static InetAddressAndPort self;
  private static InetAddressAndPort second;
  private static InetAddressAndPort third;
  private static InetAddressAndPort fourth;

  @BeforeAll
  static void start() throws UnknownHostException {
    CassandraInProcess.start();
    CassandraInProcess.execute(
        "CREATE KEYSPACE IF NOT EXISTS of_3 WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 3}");
    CassandraInProcess.execute("CREATE TABLE IF NOT EXISTS of_3.t (id int PRIMARY KEY, v int)");
    self = FBUtilities.getBroadcastAddressAndPort();
    second = InetAddressAndPort.getByName("127.0.99.2");
    third = InetAddressAndPort.getByName("127.0.99.3");
    fourth = InetAddressAndPort.getByName("127.0.99.4");
  }

  /** Others are reached as Cassandra does it. */
  @Test
  void whenThePlanHasANodeAsDownThenItIsNotNear() {
    PartitionDispatch sending = sending(1, List.of(self, second, third), List.of(second), now());

    assertThat(sending.near().endpoints()).containsExactly(third);
  }

  @Test
  void whenThisNodeIsAReplicaThenItIsWrittenHere() {
    sending(2, List.of(self, second, third), List.of(), now()).writeHere();

    assertThat(isHere(2)).isTrue();
  }

  @Test
  void whenThisNodeIsNoReplicaThenItIsNotWrittenHere() {
    sending(3, List.of(second, third, fourth), List.of(), now()).writeHere();

    assertThat(isHere(3)).isFalse();
  }

  /** It could come after a TRUNCATE. */
  @Test
  void whenItIsLateThenItIsNotWrittenHere() {
    long lateNanos = 2 * DatabaseDescriptor.getWriteRpcTimeout(TimeUnit.NANOSECONDS);
    Dispatcher.RequestTime late =
        new Dispatcher.RequestTime(System.nanoTime() - lateNanos, System.nanoTime() - lateNanos);

    sending(4, List.of(self, second, third), List.of(), late).writeHere();

    assertThat(isHere(4)).isFalse();
  }

  private static boolean isHere(int id) {
    return !CassandraInProcess.execute("SELECT v FROM of_3.t WHERE id = " + id).isEmpty();
  }

  private static Dispatcher.RequestTime now() {
    return Dispatcher.RequestTime.forImmediateExecution();
  }

  private static PartitionDispatch sending(
      int id,
      List<InetAddressAndPort> replicas,
      List<InetAddressAndPort> down,
      Dispatcher.RequestTime time) {
    Keyspace keyspace = Keyspace.open("of_3");
    PartitionUpdate.SimpleBuilder update =
        PartitionUpdate.simpleBuilder(keyspace.getColumnFamilyStore("t").metadata(), id);
    update.timestamp(1).row().add("v", 1);
    Mutation mutation = new Mutation(update.build());
    Token token = mutation.key().getToken();
    AbstractReplicationStrategy strategy = keyspace.getReplicationStrategy();
    EndpointsForToken all = endpoints(token, replicas);
    EndpointsForToken live = all.filter(replica -> !down.contains(replica.endpoint()));
    ReplicaPlan.ForWrite plan =
        new ReplicaPlan.ForWrite(
            keyspace,
            strategy,
            ConsistencyLevel.QUORUM,
            EndpointsForToken.empty(token),
            all,
            live,
            all);
    AbstractWriteResponseHandler<IMutation> handler =
        strategy.getWriteResponseHandler(plan, () -> {}, WriteType.SIMPLE, () -> null, time);
    return new PartitionDispatch(mutation, plan, handler, DATA_CENTER, time);
  }

  private static EndpointsForToken endpoints(Token token, List<InetAddressAndPort> nodes) {
    return EndpointsForToken.copyOf(
        token, nodes.stream().map(node -> Replica.fullReplica(node, token, token)).toList());
  }
}
