// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.barrier;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.statement.StatementMutations;
import io.isolde.testing.CassandraInProcess;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.db.SystemKeyspace;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.paxos.Ballot;
import org.apache.cassandra.service.paxos.BallotGenerator;
import org.apache.cassandra.service.paxos.Commit;
import org.apache.cassandra.transport.Dispatcher;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a lightweight transaction left behind whose coordinator died. */
class UnfinishedPaxosTest {
  private static final long PATIENCE_MILLIS = 20_000;

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
  }

  @Test
  void whenAProposalWasAcceptedAndNotCommittedThenItIsCommittedNow() throws Exception {
    CassandraInProcess.execute("CREATE TABLE test.lwt (id int PRIMARY KEY, v int)");
    for (int id = 1; id <= 3; id++) {
      accept("INSERT INTO test.lwt (id, v) VALUES (%d, 5)".formatted(id));
    }
    assertThat(CassandraInProcess.execute("SELECT v FROM test.lwt")).isEmpty();
    TableMetadata table = CassandraInProcess.table("lwt").metadata();
    assertThat(UnfinishedPaxos.finish(table, PATIENCE_MILLIS)).isTrue();
    assertThat(CassandraInProcess.execute("SELECT v FROM test.lwt")).hasSize(3);
    CassandraInProcess.execute("TRUNCATE test.lwt");
    assertThat(UnfinishedPaxos.finish(table, PATIENCE_MILLIS)).isTrue();
    assertThat(CassandraInProcess.execute("SELECT v FROM test.lwt")).as("once").isEmpty();
  }

  private static void accept(String insert) {
    ModificationStatement statement =
        (ModificationStatement)
            QueryProcessor.parseStatement(insert, ClientState.forInternalCalls());
    Ballot ballot = BallotGenerator.Global.nextBallot(Ballot.Flag.GLOBAL);
    PartitionUpdate update =
        StatementMutations.of(
                statement,
                ClientState.forInternalCalls(),
                QueryOptions.DEFAULT,
                ballot.unixMicros(),
                1,
                Dispatcher.RequestTime.forImmediateExecution())
            .get(0);
    SystemKeyspace.savePaxosProposal(Commit.Proposal.of(ballot, update).accepted());
  }
}
