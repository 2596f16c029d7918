// SPDX-License-Identifier: Apache-2.0
package io.isolde.statement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.apply.Stamp;
import io.isolde.testing.CassandraInProcess;
import java.util.List;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.partitions.FilteredPartition;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.PartitionIterators;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Elements of lists that are there keep their place; new ones get that of the commit. */
class RowChangesTest {
  private static final long HOUR_MICROS = 3_600_000_000L;
  private static final long NOW = System.currentTimeMillis() * 1_000;

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute(
        "CREATE TABLE test.changes (p int, c int, s list<int> static, l list<int>,"
            + " PRIMARY KEY (p, c))");
  }

  @AfterAll
  static void end() {
    CassandraInProcess.execute("DROP TABLE test.changes");
  }

  private static FilteredPartition read(SinglePartitionReadCommand command) {
    try (ReadExecutionController controller = command.executionController();
        PartitionIterator found = command.executeInternal(controller)) {
      return FilteredPartition.create(PartitionIterators.getOnlyElement(found, command));
    }
  }

  private static List<PartitionUpdate> updates(String cql, long asOf) {
    ClientState client = ClientState.forInternalCalls();
    BoundWrite write =
        new BoundWrite(
            (ModificationStatement) QueryProcessor.getStatement(cql, client), QueryOptions.DEFAULT);
    QueryState state = new QueryState(client, Stamp.PROVISIONAL_MICROS + 2, NOW / 1_000_000);
    return ConditionalWrites.updates(
        write, new WriteMoment(state, asOf, asOf + 2), RowChangesTest::read);
  }

  private static void commit(String cql, long asOf, long commitTimestamp) {
    Stamp.mutations(updates(cql, asOf), commitTimestamp).forEach(Mutation::apply);
  }

  private static List<List<Integer>> lists(String column, int key) {
    return CassandraInProcess.execute(
            "SELECT %s FROM test.changes WHERE p = %d".formatted(column, key))
        .stream()
        .map(row -> row.getList(column, Int32Type.instance))
        .toList();
  }

  @Test
  void whenElementsAreSetOrDeletedThenTheOthersAndTheirOrderStay() {
    CassandraInProcess.execute(
        "UPDATE test.changes USING TIMESTAMP 1000 SET l = [1, 2, 3, 2, 4], s = [5, 6] WHERE p = 0 AND c = 0");
    long asOf = NOW + HOUR_MICROS;
    commit("UPDATE test.changes SET l[0] = 10, s[1] = 60 WHERE p = 0 AND c = 0", asOf, asOf + 100);
    commit("UPDATE test.changes SET l = l - [2] WHERE p = 0 AND c = 0", asOf + 100, asOf + 200);
    commit("DELETE l[0], s[0] FROM test.changes WHERE p = 0 AND c = 0", asOf + 200, asOf + 300);
    assertThat(lists("l", 0)).containsExactly(List.of(3, 4));
    assertThat(lists("s", 0)).containsExactly(List.of(60));
  }

  @Test
  void whenTheClockOfThisNodeIsBehindThenNewElementsStillStandOutside() {
    long asOf = NOW + HOUR_MICROS;
    CassandraInProcess.execute(
        "UPDATE test.changes USING TIMESTAMP 1000 SET l = [5] WHERE p = 1 AND c = 0");
    commit("UPDATE test.changes SET l[0] = 5, l = l + [6, 7] WHERE p = 1 AND c = 0", NOW, asOf);
    commit(
        "UPDATE test.changes SET l[0] = 5, l = [3, 4] + l WHERE p = 1 AND c = 0", asOf, asOf + 2);
    assertThat(lists("l", 1)).containsExactly(List.of(3, 4, 5, 6, 7));
    // Only this way is the last element new, and the first one.
    commit(
        "UPDATE test.changes SET l = l + [8], l[5] = 80, l = [1, 2] + l, l[1] = 20"
            + " WHERE p = 1 AND c = 0",
        asOf + 2,
        asOf + 100);
    assertThat(lists("l", 1)).containsExactly(List.of(1, 20, 3, 4, 5, 6, 7, 80));
  }

  /** By a clock that was ahead when the table was plain. */
  @Test
  void whenAnElementStandsAheadOfNewOnesThenTheCommitStillSortsThem() {
    CassandraInProcess.execute(
        "UPDATE test.changes USING TIMESTAMP 1000 SET l = [1, 2] WHERE p = 2 AND c = 0");
    commit(
        "UPDATE test.changes SET l[1] = 20, l = l + [3, 4] WHERE p = 2 AND c = 0",
        NOW - HOUR_MICROS,
        NOW + HOUR_MICROS);
    assertThat(lists("l", 2)).containsExactly(List.of(1, 20, 3, 4));
  }

  @Test
  void whenAStatementNamesManyRowsThenEachIsReadForItself() {
    for (String row : List.of("p = 3 AND c = 0", "p = 3 AND c = 1", "p = 4 AND c = 1")) {
      CassandraInProcess.execute(
          "UPDATE test.changes USING TIMESTAMP 1000 SET l = [1, 2, 1] WHERE " + row);
    }
    commit(
        "UPDATE test.changes SET l = l - [1] WHERE p IN (3, 4) AND c IN (0, 1)",
        NOW + HOUR_MICROS,
        NOW + HOUR_MICROS + 2);
    assertThat(lists("l", 3)).containsExactly(List.of(2), List.of(2));
    assertThat(lists("l", 4)).containsExactly(List.of(2));
  }

  @Test
  void whenAnIndexIsOutOfBoundsThenCassandrasErrorComes() {
    CassandraInProcess.execute(
        "UPDATE test.changes USING TIMESTAMP 1000 SET l = [1] WHERE p = 5 AND c = 0");
    assertThatThrownBy(
            () ->
                updates(
                    "UPDATE test.changes SET l[1] = 2 WHERE p = 5 AND c = 0", NOW + HOUR_MICROS))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessage("List index 1 out of bound, list has size 1");
  }
}
