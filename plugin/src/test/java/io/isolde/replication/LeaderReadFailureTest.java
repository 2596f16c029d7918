// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.testing.CassandraInProcess;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.SinglePartitionReadQuery;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.exceptions.ReadFailureException;
import org.apache.cassandra.exceptions.RequestFailureReason;
import org.apache.cassandra.service.ClientState;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A leader reads a partition of too many tombstones, for a client of its own or another node's. */
class LeaderReadFailureTest {
  private static final int MAX_TOMBSTONES = 10;
  private static final int ROWS = 30;

  private static int before;

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    before = DatabaseDescriptor.getTombstoneFailureThreshold();
    DatabaseDescriptor.setTombstoneFailureThreshold(MAX_TOMBSTONES);
    CassandraInProcess.execute("CREATE TABLE test.buried (p int, c int, PRIMARY KEY (p, c))");
    for (int i = 0; i < ROWS; i++) {
      CassandraInProcess.execute("INSERT INTO test.buried (p, c) VALUES (0, %d)".formatted(i));
      CassandraInProcess.execute("DELETE FROM test.buried WHERE p = 1 AND c = " + i);
    }
  }

  @AfterAll
  static void restore() {
    CassandraInProcess.execute("DROP TABLE test.buried");
    DatabaseDescriptor.setTombstoneFailureThreshold(before);
  }

  private static ReadCommand partition(int key) {
    SelectStatement select =
        (SelectStatement)
            QueryProcessor.getStatement(
                "SELECT * FROM test.buried WHERE p = " + key, ClientState.forInternalCalls());
    var query = (SinglePartitionReadQuery.Group<?>) select.getQuery(QueryOptions.DEFAULT, 1);
    return (ReadCommand) query.queries.get(0);
  }

  private static int readForAnother(int key) throws Exception {
    ReadCommand command = partition(key);
    byte[] answer = LeaderReads.answer(LeaderReads.encode(command)).get(30, TimeUnit.SECONDS);
    return count(LeaderReads.decode(answer, command, ConsistencyLevel.QUORUM));
  }

  private static int readHere(int key) {
    return count(ReadHere.of(partition(key), ConsistencyLevel.QUORUM));
  }

  private static int count(PartitionIterator partitions) {
    int count = 0;
    try (partitions) {
      while (partitions.hasNext()) {
        try (RowIterator rows = partitions.next()) {
          for (; rows.hasNext(); rows.next()) {
            count++;
          }
        }
      }
    }
    return count;
  }

  @Test
  void whenAReadIsHealthyThenItHasAllRows() throws Exception {
    assertThat(readHere(0)).isEqualTo(ROWS);
    assertThat(readForAnother(0)).isEqualTo(ROWS);
  }

  @Test
  void whenTheLeaderCannotReadThenTheOtherNodeIsAnsweredAtOnceAndDoesNotAskAgain() {
    assertThatThrownBy(() -> readForAnother(1)).satisfies(LeaderReadFailureTest::assertAnswered);
  }

  @Test
  void whenTheLeadersOwnClientReadsThenItIsToldTheSame() {
    assertThatThrownBy(() -> readHere(1)).satisfies(LeaderReadFailureTest::assertAnswered);
  }

  private static void assertAnswered(Throwable thrown) {
    assertThat(thrown)
        .isInstanceOfSatisfying(
            ReadFailureException.class,
            failure ->
                assertThat(failure.failureReasonByEndpoint)
                    .containsValue(RequestFailureReason.READ_TOO_MANY_TOMBSTONES));
  }
}
