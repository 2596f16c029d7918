// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.apply.Stamp;
import io.isolde.statement.StatementMutations;
import io.isolde.testing.CassandraInProcess;
import java.util.List;
import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.Dispatcher;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The clock of the leader before was 15 s ahead, and so are the places of its elements. */
class DecidedListsTest {
  private static final long SKEW_MICROS = 15_000_000;

  private long micros = System.currentTimeMillis() * 1_000 + SKEW_MICROS;

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute(
        "CREATE TABLE test.lists (p int, c int, s list<int> static, a list<int>, b list<int>,"
            + " m map<int, int>, PRIMARY KEY (p, c))");
  }

  @AfterAll
  static void end() {
    CassandraInProcess.execute("DROP TABLE test.lists");
  }

  private static List<PartitionUpdate> updates(String cql) {
    ClientState client = ClientState.forInternalCalls();
    ModificationStatement statement =
        (ModificationStatement) QueryProcessor.getStatement(cql, client);
    return StatementMutations.of(
        List.of(statement),
        client,
        BatchQueryOptions.withoutPerStatementVariables(QueryOptions.DEFAULT),
        true,
        1,
        nowInSeconds(),
        Dispatcher.RequestTime.forImmediateExecution());
  }

  private static long nowInSeconds() {
    return System.currentTimeMillis() / 1_000;
  }

  /** A write that the log places. */
  private void log(String cql) {
    micros += 2;
    Stamp.mutations(updates(cql), micros, false).forEach(Mutation::apply);
  }

  /** One that is read first. */
  private void decide(String cql) {
    micros += 2;
    List<PartitionUpdate> placed =
        updates(cql).stream()
            .map(update -> DecidedLists.placed(update, micros, nowInSeconds()))
            .toList();
    Stamp.mutations(placed, micros, true).forEach(Mutation::apply);
  }

  private static List<Integer> list(String column, int key) {
    return CassandraInProcess.execute(
            "SELECT %s FROM test.lists WHERE p = %d".formatted(column, key))
        .one()
        .getList(column, Int32Type.instance);
  }

  @Test
  void whenElementsAreAddedThenTheyAreBehindAndInFrontOfAllThatThereAre() {
    log("UPDATE test.lists SET a = a + [1, 2], b = [1] + b WHERE p = 0 AND c = 0");
    decide("UPDATE test.lists SET a = a + [3, 4], b = [3, 2] + b WHERE p = 0 AND c = 0");
    log("UPDATE test.lists SET a = a + [5], b = [4] + b WHERE p = 0 AND c = 0");
    assertThat(list("a", 0)).containsExactly(1, 2, 3, 4, 5);
    assertThat(list("b", 0)).containsExactly(4, 3, 2, 1);
  }

  @Test
  void whenElementsAreReplacedOrDeletedThenTheyAreWhereTheyWere() {
    log("UPDATE test.lists SET a = [1, 2, 3], b = [7], m = {1: 1} WHERE p = 1 AND c = 0");
    decide("UPDATE test.lists SET a[1] = 20, b = b + [8], m[2] = 2 WHERE p = 1 AND c = 0");
    decide("UPDATE test.lists SET a = a - [1], b = [6] + b WHERE p = 1 AND c = 0");
    assertThat(list("a", 1)).containsExactly(20, 3);
    assertThat(list("b", 1)).containsExactly(6, 7, 8);
  }

  @Test
  void whenAListIsStaticOrReplacedAsAWholeThenItIsAsItWasWritten() {
    log("UPDATE test.lists SET s = [1, 2] WHERE p = 2");
    decide("UPDATE test.lists SET s[0] = 10 WHERE p = 2");
    decide("UPDATE test.lists SET s = s + [3] WHERE p = 2");
    decide("INSERT INTO test.lists (p, c, a) VALUES (2, 0, [9, 8, 7])");
    assertThat(list("s", 2)).containsExactly(10, 2, 3);
    assertThat(list("a", 2)).containsExactly(9, 8, 7);
  }
}
