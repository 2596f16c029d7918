// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import static io.isolde.testing.CassandraInProcess.execute;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.testing.CassandraInProcess;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.schema.TableId;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Commits of other nodes' coordinators, applied on a node that may know less than they did. */
class LeaderApplierTest {
  private static final long COMMIT = 1_000;
  private static final long PATIENCE_SECONDS = 20;

  private final LeaderApplier applier =
      new LeaderApplier(new FailingStrongTables(), OutboundQueues.none());

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
  }

  @Test
  void whenACommitIsAppliedThenItIsThereWithItsTimestamp() throws Exception {
    create("led");
    assertThat(get(applier.apply(COMMIT, writeSet("led")))).isTrue();
    assertThat(execute("SELECT writetime(v) AS at FROM test.led").one().getLong("at"))
        .isEqualTo(COMMIT);
  }

  /** Its coordinator knows the whole of it. */
  @Test
  void whenATableIsUnknownThenNothingIsApplied() throws Exception {
    create("led_known");
    create("led_gone");
    byte[] both = writeSet("led_known", "led_gone");
    execute("DROP TABLE test.led_gone");

    assertThat(get(applier.apply(COMMIT, both))).isFalse();
    assertThat(execute("SELECT v FROM test.led_known")).isEmpty();
  }

  @Test
  void whenAColumnIsUnknownThenNothingIsApplied() throws Exception {
    create("led_altered");
    byte[] writes = writeSet("led_altered");
    TableId id = CassandraInProcess.table("led_altered").metadata().id;
    execute("DROP TABLE test.led_altered");
    execute("CREATE TABLE test.led_altered (id int PRIMARY KEY, w int) WITH id = " + id);

    assertThat(get(applier.apply(COMMIT, writes))).isFalse();
    assertThat(execute("SELECT w FROM test.led_altered")).isEmpty();
  }

  @Test
  void whenAWriteSetIsDamagedThenItSaysSo() {
    assertThatThrownBy(() -> get(applier.apply(COMMIT, new byte[] {1})))
        .isInstanceOf(ExecutionException.class);
  }

  private static void create(String table) {
    execute("DROP TABLE IF EXISTS test." + table);
    execute("CREATE TABLE test." + table + " (id int PRIMARY KEY, v int)");
  }

  private static byte[] writeSet(String... tables) {
    return WriteSetCodec.encode(List.of(tables).stream().map(LeaderApplierTest::write).toList());
  }

  private static PartitionUpdate write(String table) {
    PartitionUpdate.SimpleBuilder update =
        PartitionUpdate.simpleBuilder(CassandraInProcess.table(table).metadata(), 1);
    update.row().add("v", 1);
    return update.build();
  }

  private static boolean get(CompletableFuture<Boolean> applied) throws Exception {
    return applied.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }
}
