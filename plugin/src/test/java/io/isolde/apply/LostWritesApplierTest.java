// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import static io.isolde.testing.CassandraInProcess.execute;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.statement.StatementMutations;
import io.isolde.testing.CassandraInProcess;
import io.isolde.version.VersionIndex;
import java.util.List;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.UntypedResultSet;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.transport.Dispatcher;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class LostWritesApplierTest {
  private static final long FIRST = 1_000;

  private final LostWritesApplier applier = new LostWritesApplier(new FailingStrongTables());

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
  }

  private static void create(String table) {
    execute("CREATE TABLE " + table + " (id int PRIMARY KEY, v int)");
  }

  private static PartitionUpdate write(String table, int value) {
    PartitionUpdate.SimpleBuilder update =
        PartitionUpdate.simpleBuilder(CassandraInProcess.table(table).metadata(), 1).timestamp(1);
    update.row().add("v", value);
    return update.build();
  }

  private static int value(String table) {
    return execute("SELECT v FROM " + table + " WHERE id = 1").one().getInt("v");
  }

  @Test
  void whenCommitsAreAppliedAgainThenTheRowsAreAsTheyWere() {
    create("test.again");
    byte[] first = WriteSetCodec.encode(List.of(write("again", 1)));
    byte[] second = WriteSetCodec.encode(List.of(write("again", 2)));
    applier.apply(FIRST, List.of(first));
    assertThat(value("test.again")).isEqualTo(1);
    applier.apply(FIRST + 2, List.of(second));
    applier.apply(FIRST, List.of(first));
    applier.apply(FIRST + 2, List.of(second));
    assertThat(value("test.again")).isEqualTo(2);
    assertThat(
            execute("SELECT writetime(v) AS at FROM test.again WHERE id = 1").one().getLong("at"))
        .isEqualTo(FIRST + 2);
  }

  @Test
  void whenAPlainTableWasTruncatedSinceThenItStaysEmpty() {
    create("test.emptied");
    byte[] writes = WriteSetCodec.encode(List.of(write("emptied", 1)));
    execute("TRUNCATE test.emptied");
    applier.apply((System.currentTimeMillis() - 60_000) * 1000, List.of(writes));
    assertThat(execute("SELECT v FROM test.emptied")).isEmpty();
    applier.apply((System.currentTimeMillis() + 60_000) * 1000, List.of(writes));
    assertThat(value("test.emptied")).isEqualTo(1);
  }

  /** Commits from before TRUNCATE are not asked for, whatever the clock said. */
  @Test
  void whenATransactionalTableWasTruncatedByAClockThatIsAheadThenLaterCommitsAreApplied() {
    create("test.refilled");
    execute(
        "CREATE CUSTOM INDEX %s ON test.refilled () USING '%s'"
            .formatted(VersionIndex.nameFor("refilled"), VersionIndex.class.getName()));
    byte[] writes = WriteSetCodec.encode(List.of(write("refilled", 1)));
    execute("TRUNCATE test.refilled");
    applier.apply((System.currentTimeMillis() - 60_000) * 1000, List.of(writes));
    assertThat(value("test.refilled")).isEqualTo(1);
  }

  @Test
  void whenATableIsGoneThenTheRestOfTheCommitIsApplied() {
    create("test.there");
    create("test.gone");
    byte[] writes = WriteSetCodec.encode(List.of(write("there", 1), write("gone", 1)));
    execute("DROP TABLE test.gone");
    applier.apply(FIRST, List.of(writes));
    assertThat(value("test.there")).isEqualTo(1);
  }

  @Test
  void whenATableIsDroppedAndMadeAgainThenTheNewOneStaysEmpty() {
    create("test.remade");
    byte[] writes = WriteSetCodec.encode(List.of(write("remade", 1)));
    execute("DROP TABLE test.remade");
    create("test.remade");
    applier.apply(FIRST, List.of(writes));
    assertThat(execute("SELECT v FROM test.remade")).isEmpty();
  }

  @Test
  void whenATypeHasGotAFieldSinceThenTheValueIsAsItWas() {
    execute("CREATE TYPE test.pair (a int, b int)");
    execute("CREATE TABLE test.typed (id int PRIMARY KEY, f frozen<pair>, p pair)");
    PartitionUpdate update =
        StatementMutations.of(
                (ModificationStatement)
                    QueryProcessor.parseStatement(
                        "INSERT INTO test.typed (id, f, p) VALUES (1, {a: 1, b: 2}, {a: 3, b: 4})",
                        ClientState.forInternalCalls()),
                ClientState.forInternalCalls(),
                QueryOptions.DEFAULT,
                Stamp.PROVISIONAL_MICROS,
                1,
                Dispatcher.RequestTime.forImmediateExecution())
            .get(0);
    byte[] writes = WriteSetCodec.encode(List.of(update));
    execute("ALTER TYPE test.pair ADD c int");
    execute("ALTER TYPE test.pair RENAME a TO x");
    applier.apply(FIRST, List.of(writes));
    UntypedResultSet.Row row =
        execute("SELECT f.x AS fx, f.b AS fb, f.c AS fc, p.x AS px, p.c AS pc FROM test.typed")
            .one();
    assertThat(List.of(row.getInt("fx"), row.getInt("fb"), row.getInt("px")))
        .containsExactly(1, 2, 3);
    assertThat(row.has("fc") || row.has("pc")).as("the new field").isFalse();
  }

  @Test
  void whenAKeyspaceIsStrongThenItIsLeftToItsOwnLog() {
    create("test.logged");
    byte[] writes = WriteSetCodec.encode(List.of(write("logged", 1)));
    new LostWritesApplier(new FailingStrongTables("test")).apply(FIRST, List.of(writes));
    assertThat(execute("SELECT v FROM test.logged")).isEmpty();
  }
}
