// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness.collect;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.staleness.Place;
import io.isolde.testing.CassandraInProcess;
import java.net.UnknownHostException;
import java.util.Map;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.Verb;
import org.apache.cassandra.utils.FBUtilities;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What is made of messages as Cassandra sends them. */
class MessageTapTest {
  private static final Place HERE = new Place("eu", "r1");
  private static final Place THERE = new Place("eu", "r2");
  private static final long MILLI = 1_000_000;

  private long nowNanos = MILLI;

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TABLE test.tapped (id int PRIMARY KEY, v int)");
  }

  @Test
  void whenAForwardedWriteHasTheIdOfAnOwnOneThenOnlyTheOwnIsTimed() throws UnknownHostException {
    DelayBook book = new DelayBook(1_000_000_000, 10, () -> nowNanos / MILLI, table -> true);
    Collector collector = new Collector(1, book, HERE, peer -> THERE, () -> nowNanos);
    MessageTap tap = new MessageTap(collector);
    InetAddressAndPort coordinator = InetAddressAndPort.getByName("127.0.0.78");
    InetAddressAndPort replica = InetAddressAndPort.getByName("127.0.0.79");
    for (int id = 1; id <= 20; id++) {
      tap.goesOut(write(id, coordinator), replica);
      nowNanos += 500 * MILLI;
      tap.goesOut(write(id, FBUtilities.getBroadcastAddressAndPort()), replica);
      nowNanos += MILLI;
      AnswerStamp stamp = new AnswerStamp(nowNanos, nowNanos + MILLI);
      nowNanos += 2 * MILLI;
      collector.answerArrived(id, replica, stamp);
    }
    Map<Leg, SeenLeg> legs = book.seen().get("test.tapped").get(THERE);
    double bothMicros = legs.get(Leg.WRITE).p50Micros() + legs.get(Leg.ACK).p50Micros();
    assertThat(bothMicros).isBetween(2_900.0, 3_100.0);
  }

  private static Message<Mutation> write(long id, InetAddressAndPort from) {
    PartitionUpdate.SimpleBuilder update =
        PartitionUpdate.simpleBuilder(CassandraInProcess.table("tapped").metadata(), 1);
    update.row().add("v", 1);
    return Message.builder(Verb.MUTATION_REQ, update.buildAsMutation())
        .from(from)
        .withId(id)
        .build();
  }
}
