// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import static io.isolde.testing.CassandraInProcess.execute;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.group.Layout;
import io.isolde.testing.CassandraInProcess;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.cql3.UntypedResultSet;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.schema.TableId;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a group's log says of a truncation, and what becomes of the table on a replica. */
class StoreTruncationTest {
  private static final long MOMENT = 1_000;
  private static final long OLD = 100;
  private static final long NEW = 2_000;

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
  }

  @Test
  void whenATruncationIsInTheLogThenItIsReadAsItWasWritten() throws Exception {
    Payload.Truncation written = new Payload.Truncation(TableId.generate(), MOMENT);
    assertThat(Payload.decode(Payload.encode(written), false, false, new HashSet<>()))
        .isEqualTo(written);
  }

  @Test
  void whenMoreTablesAreTruncatedThanAreKeptThenTheFirstAreForgotten() throws Exception {
    Truncations truncations = new Truncations();
    TableId first = TableId.generate();
    assertThat(truncations.reach(first, MOMENT)).isFalse();
    truncations.add(first, MOMENT);
    assertThat(truncations.reach(first, MOMENT)).isTrue();
    for (int i = 0; i < Truncations.MAX_TABLES; i++) {
      truncations.add(TableId.generate(), i);
    }
    Truncations restored = new Truncations();
    restored.restore(truncations.save());
    Set<TableId> known = new HashSet<>();
    restored.forEach((table, micros) -> known.add(table));
    assertThat(known).hasSize(Truncations.MAX_TABLES).doesNotContain(first);
    restored.restore(new byte[0]);
    assertThat(restored.save()).isEqualTo(new Truncations().save());
  }

  private static ColumnFamilyStore create(String name, String memtable) {
    execute(
        "CREATE TABLE test.%s (p int, c int, s text static, v text, w int, m map<int, text>,"
                .formatted(name)
            + " PRIMARY KEY (p, c)) WITH memtable = '%s' AND compaction = {'class':"
                .formatted(memtable)
            + " 'SizeTieredCompactionStrategy', 'enabled': false}");
    execute("CREATE INDEX ON test.%s (v)".formatted(name));
    execute("CREATE INDEX ON test.%s (w) USING 'sai'".formatted(name));
    return CassandraInProcess.table(name);
  }

  /** That of a node which has all of the keyspace of tests. */
  static TableStorage storage() {
    Layout.Member self = new Layout.Member(UUID.randomUUID().toString(), "127.0.0.77:7000");
    Layout layout =
        new Layout(List.of(new Layout.Group(0, List.of(self))), List.of(new Layout.Range(0, 0)));
    return new TableStorage(
        CassandraInProcess.KEYSPACE,
        layout,
        layout.groups().get(0),
        UUID.randomUUID(),
        () -> true,
        truncation -> {},
        new GroupChanges().replica(UUID.randomUUID()));
  }

  private static TableStorage truncate(ColumnFamilyStore table) {
    TableStorage storage = storage();
    byte[] entry = Payload.encode(new Payload.Truncation(table.metadata().id, MOMENT));
    assertThat(storage.apply(entry, null, OLD)).isEqualTo(MOMENT);
    return storage;
  }

  private static void insert(String table, int p, int c, String v, long micros) {
    execute(
        "INSERT INTO test.%s (p, c, s, v, w, m) VALUES (%d, %d, '%s', '%s', %d, {1: '%s'})"
                .formatted(table, p, c, v, v, c, v)
            + " USING TIMESTAMP "
            + micros);
  }

  private static Set<String> rows(String table, String where) {
    Set<String> rows = new TreeSet<>();
    for (UntypedResultSet.Row row : execute("SELECT * FROM test." + table + where)) {
      rows.add(
          "%d %d %s %s"
              .formatted(
                  row.getInt("p"),
                  row.getInt("c"),
                  row.has("v") ? row.getString("v") : "-",
                  row.has("s") ? row.getString("s") : "-"));
    }
    return rows;
  }

  private static void assertNothingOld(ColumnFamilyStore table) {
    for (ColumnFamilyStore store : table.concatWithIndexes()) {
      assertThat(store.getLiveSSTables())
          .allSatisfy(sstable -> assertThat(sstable.getMinTimestamp()).isGreaterThan(MOMENT));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"default", "trie"})
  void whenATableIsTruncatedThenWhatIsNewerSurvivesInMemtablesAndOnDisk(String memtable) {
    String name = "cut_" + memtable;
    ColumnFamilyStore table = create(name, memtable);
    insert(name, 1, 1, "old", OLD);
    CassandraInProcess.flush(name);
    insert(name, 1, 2, "old", OLD);
    insert(name, 2, 1, "old", OLD);
    insert(name, 2, 2, "new", NEW);
    execute(
        "UPDATE test."
            + name
            + " USING TIMESTAMP "
            + NEW
            + " SET v = 'newer' WHERE p = 1 AND c = 2");
    CassandraInProcess.flush(name);
    insert(name, 3, 1, "new", NEW);
    CassandraInProcess.flush(name);
    insert(name, 4, 1, "old", OLD);
    insert(name, 5, 1, "new", NEW);

    truncate(table);
    assertThat(rows(name, ""))
        .containsExactly("1 2 newer -", "2 2 new new", "3 1 new new", "5 1 new new");
    assertThat(rows(name, " WHERE v = 'old'")).isEmpty();
    assertThat(rows(name, " WHERE v = 'newer'")).containsExactly("1 2 newer -");
    assertThat(rows(name, " WHERE w = 1")).containsExactly("3 1 new new", "5 1 new new");
    assertThat(rows(name, " WHERE w = 2")).containsExactly("2 2 new new");
    assertNothingOld(table);
    assertThat(execute("SELECT m FROM test." + name + " WHERE p = 1 AND c = 2").one().has("m"))
        .isFalse();

    Set<SSTableReader> left = Set.copyOf(table.getLiveSSTables());
    truncate(table);
    assertThat(table.getLiveSSTables()).isEqualTo(left);

    insert(name, 3, 1, "late", OLD); // by a group that is behind
    insert(name, 6, 1, "late", OLD);
    truncate(table);
    assertThat(rows(name, " WHERE v = 'late'")).isEmpty();
    assertThat(rows(name, ""))
        .containsExactly("1 2 newer -", "2 2 new new", "3 1 new new", "5 1 new new");
  }

  @Test
  void whenAllIsOldThenNothingIsLeftOnDisk() {
    ColumnFamilyStore table = create("cut_whole", "default");
    insert("cut_whole", 1, 1, "old", OLD);
    CassandraInProcess.flush("cut_whole");
    insert("cut_whole", 2, 1, "old", OLD);
    truncate(table);
    for (ColumnFamilyStore store : table.concatWithIndexes()) {
      assertThat(store.getLiveSSTables()).isEmpty();
    }
    assertThat(rows("cut_whole", "")).isEmpty();
    insert("cut_whole", 2, 1, "new", NEW);
    assertThat(rows("cut_whole", " WHERE v = 'new'")).hasSize(1);
    assertThat(rows("cut_whole", " WHERE w = 1")).hasSize(1);
  }

  @Test
  void whenDeletionsAreOldThenTheyAreGoneAndNewerOnesStay() {
    ColumnFamilyStore table = create("cut_deletions", "default");
    String delete = "DELETE FROM test.cut_deletions USING TIMESTAMP %d WHERE p = %d%s";
    execute(delete.formatted(OLD, 1, ""));
    execute(delete.formatted(NEW, 2, ""));
    execute(delete.formatted(OLD, 3, " AND c >= 1 AND c < 7"));
    execute(delete.formatted(NEW, 3, " AND c >= 3 AND c < 5"));
    execute(delete.formatted(OLD, 4, " AND c = 1"));
    execute(delete.formatted(NEW, 4, " AND c = 2"));
    insert("cut_deletions", 9, 9, "new", NEW);
    truncate(table);
    assertNothingOld(table);
    for (int p = 1; p <= 4; p++) {
      for (int c = 1; c <= 7; c++) {
        execute(
            "INSERT INTO test.cut_deletions (p, c, v) VALUES (%d, %d, 'x') USING TIMESTAMP %d"
                .formatted(p, c, OLD - 1));
      }
    }
    assertThat(rows("cut_deletions", " WHERE p = 1")).hasSize(7);
    assertThat(rows("cut_deletions", " WHERE p = 2")).isEmpty();
    assertThat(rows("cut_deletions", " WHERE p = 3"))
        .containsExactly("3 1 x -", "3 2 x -", "3 5 x -", "3 6 x -", "3 7 x -");
    assertThat(rows("cut_deletions", " WHERE p = 4")).hasSize(6).doesNotContain("4 2 x -");
  }

  @Test
  void whenASnapshotIsToBeTakenThenThereIsOneForEachTruncation() {
    ColumnFamilyStore table = create("cut_kept", "default");
    boolean was = DatabaseDescriptor.isAutoSnapshot();
    DatabaseDescriptor.setAutoSnapshot(true);
    try {
      truncate(table);
      assertThat(table.listSnapshots()).isEmpty();
      insert("cut_kept", 1, 1, "old", OLD);
      truncate(table);
      assertThat(table.listSnapshots()).containsOnlyKeys("truncated-1-cut_kept");
      insert("cut_kept", 2, 1, "late", OLD);
      truncate(table);
      assertThat(table.listSnapshots()).hasSize(1);
      assertThat(rows("cut_kept", "")).isEmpty();
    } finally {
      DatabaseDescriptor.setAutoSnapshot(was);
      table.clearSnapshot("");
    }
  }

  @Test
  void whenACommitComesAgainAfterATruncationThenItLeavesNothing() {
    ColumnFamilyStore table = create("cut_commits", "default");
    TableStorage storage = truncate(table);
    assertThat(storage.apply(commit(table, OLD), null, NEW)).isEqualTo(NEW);
    assertThat(rows("cut_commits", "")).isEmpty();
    assertThat(storage.apply(commit(table, NEW), null, OLD)).isEqualTo(NEW);
    assertThat(rows("cut_commits", "")).hasSize(1);
  }

  private static byte[] commit(ColumnFamilyStore table, long micros) {
    PartitionUpdate.SimpleBuilder update = PartitionUpdate.simpleBuilder(table.metadata(), 1);
    update.timestamp(micros).row(1).add("v", "commit");
    return Payload.encode(Payload.Updates.of(new Mutation(update.build())));
  }

  @Test
  void whenAReplicaGoesOnFromTheStateOfAnotherThenItRemovesWhatThatHasRemoved() throws IOException {
    ColumnFamilyStore table = create("cut_copied", "default");
    TableStorage other = truncate(table);
    insert("cut_copied", 1, 1, "old", OLD);
    CassandraInProcess.flush("cut_copied");
    insert("cut_copied", 2, 1, "new", NEW);
    TableStorage copied = storage();
    copied.restore(other.state());
    assertThat(rows("cut_copied", "")).containsExactly("2 1 new new");
    assertThat(copied.state()).isEqualTo(other.state());
    copied.apply(commit(table, OLD), null, OLD);
    assertThat(rows("cut_copied", "")).containsExactly("2 1 new new");
  }

  private static void hold(TableStorage storage, ColumnFamilyStore table, long at, long until) {
    byte[] entry = Payload.encode(new Payload.Hold(table.metadata().id, until));
    assertThat(storage.apply(entry, null, at)).isEqualTo(at);
  }

  private static byte[] decided(ColumnFamilyStore table) {
    PartitionUpdate.SimpleBuilder update = PartitionUpdate.simpleBuilder(table.metadata(), 1);
    update.timestamp(OLD).row(1).add("v", "decided");
    return Payload.encode(
        new Payload.Updates(List.of(update.build()), Payload.Timestamps.OF_THE_LOG_BUT_PLACED));
  }

  /** A decision on a row from before the truncation, whose client is gone, has come late. */
  @Test
  void whenATableIsAboutToBeTruncatedThenDecisionsOnItAreRefusedUntilThatIsDone()
      throws IOException {
    ColumnFamilyStore table = create("cut_decided", "default");
    ColumnFamilyStore other = create("cut_undecided", "default");
    TableStorage storage = storage();
    assertThat(storage.isRefused(decided(table), null, OLD)).isFalse();
    hold(storage, table, OLD, NEW);
    assertThat(storage.isRefused(decided(table), null, OLD)).isTrue();
    assertThat(storage.isRefused(decided(other), null, OLD)).isFalse();
    assertThat(storage.isRefused(decided(table), null, NEW)).as("nobody truncates it").isFalse();

    TableStorage restarted = storage();
    restarted.restore(storage.state());
    assertThat(restarted.isRefused(decided(table), null, OLD)).isTrue();
    execute("DROP TABLE test.cut_undecided");
    assertThat(restarted.isRefused(decided(other), null, OLD)).as("of no table").isFalse();

    byte[] earlier = Payload.encode(new Payload.Truncation(table.metadata().id, OLD - 2));
    storage.apply(earlier, null, OLD + 2);
    assertThat(storage.isRefused(decided(table), null, OLD)).as("that was another one").isTrue();
    byte[] truncation = Payload.encode(new Payload.Truncation(table.metadata().id, MOMENT));
    storage.apply(truncation, null, MOMENT + 2);
    assertThat(storage.isRefused(decided(table), null, OLD)).isFalse();

    hold(restarted, table, OLD + 2, 0);
    assertThat(restarted.isRefused(decided(table), null, OLD)).as("it failed").isFalse();
  }

  @Test
  void whenTheStateIsOfABuildThatHeldNoDecisionsThenItIsReadAsWell() throws IOException {
    TableId table = TableId.generate();
    ByteBuffer saved = ByteBuffer.allocate(1 + Integer.BYTES + 3 * Long.BYTES);
    saved.put((byte) 1).putInt(1);
    saved.putLong(table.asUUID().getMostSignificantBits());
    saved.putLong(table.asUUID().getLeastSignificantBits());
    saved.putLong(MOMENT);
    Truncations truncations = new Truncations();
    truncations.restore(saved.array());
    assertThat(truncations.reach(table, MOMENT)).isTrue();
    assertThat(truncations.isAnyHeld()).isFalse();
  }

  @Test
  void whenATableIsNoMoreThenItsTruncationHoldsNothingUp() {
    ColumnFamilyStore table = create("cut_dropped", "default");
    execute("DROP TABLE test.cut_dropped");
    truncate(table);
  }
}
