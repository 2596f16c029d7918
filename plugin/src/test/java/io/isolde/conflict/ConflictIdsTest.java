// SPDX-License-Identifier: Apache-2.0
package io.isolde.conflict;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.testing.CassandraInProcess;
import io.isolde.testing.WriteSets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which reads and which writes meet in an id, and so conflict. */
class ConflictIdsTest {
  private static final String ROW = "INSERT INTO test.ids (p, c, v) VALUES (1, 5, 0)";
  private static final String OTHER_ROW = "UPDATE test.ids SET v = 1 WHERE p = 1 AND c = 6";

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute(
        "CREATE TABLE IF NOT EXISTS test.ids (p int, c int, s int static, v int, PRIMARY KEY (p,"
            + " c))");
    CassandraInProcess.execute(
        "CREATE TABLE IF NOT EXISTS test.twins (p int, c int, v int, PRIMARY KEY (p, c))");
    CassandraInProcess.execute(
        "CREATE TABLE IF NOT EXISTS test.sums (p int, d decimal, i varint, v int, PRIMARY KEY (p,"
            + " d, i)) WITH CLUSTERING ORDER BY (d DESC, i ASC)");
  }

  private static ReadSet readsOf(String cql) {
    SelectStatement select =
        (SelectStatement) QueryProcessor.parseStatement(cql, ClientState.forInternalCalls());
    ReadQuery query = select.getQuery(QueryOptions.DEFAULT, 1_000_000);
    ReadSet reads = new ReadSet(1000);
    if (query instanceof PartitionRangeReadCommand range) {
      reads.range(range.metadata(), range.dataRange());
    } else {
      for (SinglePartitionReadCommand each : ((SinglePartitionReadCommand.Group) query).queries) {
        boolean statics = !each.columnFilter().fetchedColumns().statics.isEmpty();
        reads.partition(
            each.metadata(), each.partitionKey(), each.clusteringIndexFilter(), statics);
      }
    }
    return reads;
  }

  /** All three ids of a partition, and those of its rows. */
  @Test
  void whenTwoTablesHaveTheSameKeysThenTheirRowsDoNotMeet() {
    String rows = "v FROM test.%s WHERE p = 1 AND c = 5";
    for (String reads : List.of("SELECT " + rows, "SELECT v FROM test.%s WHERE p = 1")) {
      for (String writes :
          List.of(
              "UPDATE test.%s SET v = 1 WHERE p = 1 AND c = 5",
              "DELETE " + rows, "DELETE FROM test.%s WHERE p = 1")) {
        long[] read = readsOf(reads.formatted("ids")).ids();
        assertThat(WriteSets.meet(read, WriteSets.of(writes.formatted("ids")).writes()))
            .as(writes)
            .isTrue();
        assertThat(WriteSets.meet(read, WriteSets.of(writes.formatted("twins")).writes()))
            .as(writes)
            .isFalse();
      }
    }
  }

  /** Of 32 bits, about ten of so many would be equal. */
  @Test
  void whenManyPartitionsHaveARowOfOneNameThenEachHasAnIdOfItsOwn() {
    TableMetadata table = CassandraInProcess.table("ids").metadata();
    Clustering<?> five = Clustering.make(Int32Type.instance.decompose(5));
    Set<Long> ids = new HashSet<>();
    for (int p = 0; p < 300_000; p++) {
      DecoratedKey key = table.partitioner.decorateKey(Int32Type.instance.decompose(p));
      assertThat(ids.add(RowIds.row(table, key, five))).isTrue();
    }
  }

  @ParameterizedTest
  @CsvSource({"1.1, 1.10, true", "1.1, 1.11, false", "100, 1E2, true", "0, 0.000, true"})
  void whenDecimalsAreEqualThenTheyAreOneRow(String one, String other, boolean areOne) {
    String row = "UPDATE test.sums SET v = 0 WHERE p = 1 AND i = 1 AND d = ";
    boolean meet =
        WriteSets.meet(
            readsOf("SELECT v FROM test.sums WHERE p = 1 AND i = 1 AND d = " + one).ids(),
            WriteSets.of(row + other).writes());
    assertThat(meet).isEqualTo(areOne);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          v FROM test.ids WHERE p = 1 AND c = 5         | INSERT INTO test.ids (p, c, v) VALUES (1, 5, 0) | true
          v FROM test.ids WHERE p = 1 AND c = 5         | DELETE FROM test.ids WHERE p = 1 AND c = 5      | true
          v FROM test.ids WHERE p = 1 AND c IN (4, 5)   | DELETE v FROM test.ids WHERE p = 1 AND c = 5    | true
          v FROM test.ids WHERE p = 1 AND c = 5         | INSERT INTO test.ids (p, c, v) VALUES (1, 6, 0) | false
          v FROM test.ids WHERE p = 1 AND c = 5         | INSERT INTO test.ids (p, c, v) VALUES (2, 5, 0) | false
          v FROM test.ids WHERE p = 1 AND c = 5         | DELETE FROM test.ids WHERE p = 1                | true
          v FROM test.ids WHERE p = 1 AND c = 5         | DELETE FROM test.ids WHERE p = 1 AND c > 7      | true
          v FROM test.ids WHERE p = 1 AND c = 5         | DELETE FROM test.ids WHERE p = 2                | false
          v, s FROM test.ids WHERE p = 1 AND c = 5      | UPDATE test.ids SET s = 1 WHERE p = 1           | true
          v FROM test.ids WHERE p = 1                   | INSERT INTO test.ids (p, c, v) VALUES (1, 9, 0) | true
          v FROM test.ids WHERE p = 1 AND c > 5         | DELETE FROM test.ids WHERE p = 1 AND c = 9      | true
          s FROM test.ids WHERE p = 1                   | UPDATE test.ids SET s = 1 WHERE p = 1           | true
          v FROM test.ids WHERE p = 1                   | INSERT INTO test.ids (p, c, v) VALUES (2, 9, 0) | false
          v FROM test.ids                               | INSERT INTO test.ids (p, c, v) VALUES (7, 9, 0) | true
          v FROM test.ids                               | DELETE FROM test.ids WHERE p = 8                | true
          DISTINCT p FROM test.ids WHERE token(p) > 0   | INSERT INTO test.ids (p, c, v) VALUES (7, 9, 0) | true
          v FROM test.ids WHERE p IN (1, 2)             | INSERT INTO test.ids (p, c, v) VALUES (2, 9, 0) | true
          """)
  void whenAReadMeetsAWriteThenTheyConflictExactlyIfTheyMust(
      String select, String write, boolean conflict) {
    boolean meet = WriteSets.meet(readsOf("SELECT " + select).ids(), WriteSets.of(write).writes());
    assertThat(meet).isEqualTo(conflict);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          INSERT INTO test.ids (p, c, v) VALUES (1, 5, 0) | UPDATE test.ids SET v = 1 WHERE p = 1 AND c = 5 | true
          INSERT INTO test.ids (p, c, v) VALUES (1, 5, 0) | UPDATE test.ids SET v = 1 WHERE p = 1 AND c = 6 | false
          INSERT INTO test.ids (p, c, v) VALUES (1, 5, 0) | DELETE FROM test.ids WHERE p = 1                | true
          DELETE FROM test.ids WHERE p = 1 AND c > 7      | UPDATE test.ids SET v = 1 WHERE p = 1 AND c = 6 | true
          DELETE FROM test.ids WHERE p = 1                | DELETE FROM test.ids WHERE p = 1                | true
          UPDATE test.ids SET s = 1 WHERE p = 1           | UPDATE test.ids SET v = 1 WHERE p = 1 AND c = 6 | false
          UPDATE test.ids SET s = 1 WHERE p = 1           | UPDATE test.ids SET s = 2 WHERE p = 1           | true
          """)
  void whenTwoWritesMeetThenTheyConflictAtSnapshotInBothOrders(
      String first, String second, boolean conflict) {
    WriteSet one = WriteSets.of(first);
    WriteSet other = WriteSets.of(second);
    assertThat(WriteSets.meet(one.overwrites(), other.writes())).isEqualTo(conflict);
    assertThat(WriteSets.meet(other.overwrites(), one.writes())).isEqualTo(conflict);
  }

  @Test
  void whenAnIdConflictsThenTheRowBehindItCanBeNamed() {
    ReadSet reads = readsOf("SELECT v FROM test.ids WHERE p = 1 AND c = 5");
    long met =
        Arrays.stream(reads.ids())
            .filter(id -> Arrays.stream(WriteSets.of(ROW).writes()).anyMatch(w -> w == id))
            .findAny()
            .orElseThrow();
    assertThat(reads.find(met).tableName()).isEqualTo("test.ids");
    assertThat(reads.find(met).keyName()).isEqualTo("1,c=5");
    assertThat(WriteSets.of(OTHER_ROW).find(met)).isNull();
  }

  @Test
  void whenMoreIsReadThanATransactionMayThenItIsTold() {
    ReadSet small = new ReadSet(10);
    SelectStatement all =
        (SelectStatement)
            QueryProcessor.parseStatement("SELECT v FROM test.ids", ClientState.forInternalCalls());
    PartitionRangeReadCommand range =
        (PartitionRangeReadCommand) all.getQuery(QueryOptions.DEFAULT, 1_000_000);
    assertThatThrownBy(() -> small.range(range.metadata(), range.dataRange()))
        .isInstanceOfSatisfying(
            IsoldeException.class,
            e -> assertThat(e.errorCode()).isEqualTo(ErrorCode.TRANSACTION_TOO_LARGE));
  }
}
