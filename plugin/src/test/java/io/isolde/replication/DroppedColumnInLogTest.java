// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.statement.CassandraConditions;
import io.isolde.testing.CassandraInProcess;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.db.EmptyIterators;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.partitions.FilteredPartition;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.service.paxos.Ballot;
import org.apache.cassandra.service.paxos.BallotGenerator;
import org.apache.cassandra.transport.ProtocolVersion;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * A write is decided on while the moment at which a column was dropped is ahead of the leader's
 * clock. Followers, who read it from the log, are to have as much of it as the leader.
 */
class DroppedColumnInLogTest {
  private static final long AHEAD_MILLIS = TimeUnit.HOURS.toMillis(1);

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
  }

  @Test
  void whenAColumnIsThereAgainThenWhatIsDecidedAboutItIsWholeInTheLog() throws Exception {
    long moment = 1000 * (System.currentTimeMillis() + AHEAD_MILLIS);
    CassandraInProcess.execute("CREATE TABLE test.again_in_log (p int PRIMARY KEY, v text)");
    CassandraInProcess.execute("ALTER TABLE test.again_in_log DROP v USING TIMESTAMP " + moment);
    CassandraInProcess.execute("ALTER TABLE test.again_in_log ADD v text");
    DecidedStatement statement =
        DecidedStatement.of(
            new DecisionRequest(
                CassandraInProcess.KEYSPACE,
                List.of("INSERT INTO again_in_log (p, v) VALUES (1, 'x') IF NOT EXISTS"),
                List.of(List.of()),
                false,
                false,
                ProtocolVersion.CURRENT.asInt(),
                TimeUnit.MILLISECONDS.toSeconds(System.currentTimeMillis())));
    PartitionUpdate decided = updates(statement);
    Payload.Updates made =
        new Payload.Updates(List.of(decided), Payload.Timestamps.OF_THE_LOG_BUT_PLACED);
    Payload.Updates read =
        (Payload.Updates) Payload.decode(Payload.encode(made), false, false, new HashSet<>());
    assertThat(read.updates()).singleElement().hasToString(decided.toString());
    assertThat(read.updates().iterator().next().columns().regulars.size()).isOne();
    assertThat(read.updates().iterator().next().iterator().next().columnCount()).isOne();
  }

  private static PartitionUpdate updates(DecidedStatement statement) {
    CassandraConditions.Conditional conditional = statement.conditional().orElseThrow();
    SinglePartitionReadCommand read = conditional.request().readCommand(statement.nowInSeconds());
    FilteredPartition nothing =
        FilteredPartition.create(
            EmptyIterators.row(read.metadata(), statement.key(), read.isReversed()));
    return conditional
        .request()
        .makeUpdates(
            nothing,
            statement.state().getClientState(),
            BallotGenerator.Global.atUnixMicros(1_000_000, Ballot.Flag.NONE));
  }
}
