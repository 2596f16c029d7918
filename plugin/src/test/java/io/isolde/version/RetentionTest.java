// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.testing.CassandraInProcess;
import java.lang.ref.WeakReference;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.memtable.Memtable;
import org.apache.cassandra.notifications.SSTableAddedNotification;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What is kept, for how long, and what a reader is told when it is gone. */
class RetentionTest {
  private static final String COLUMNS = "(p int PRIMARY KEY, v text) WITH gc_grace_seconds = 0";
  private static final String ROW = "SELECT v FROM %s WHERE p = 1 %s";

  private static final int MAX_COLLECTIONS = 20;

  private static TestClock clock;

  @BeforeAll
  static void start() {
    clock = TestClock.ofThisNode();
  }

  private static long write(VersionedTable table, String value) {
    long timestamp = clock.next();
    table.execute("INSERT INTO %s (p, v) VALUES (1, '" + value + "') USING TIMESTAMP " + timestamp);
    return timestamp;
  }

  @Test
  void whenACompactionReplacesSSTablesThenTheyStayForReadersOfThePastOnly() {
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      long old = write(table, "old");
      table.flush();
      write(table, "new");
      table.flush();
      table.compact();
      assertThat(table.asOf(old, ROW).one().getString("v")).isEqualTo("old");
      assertThat(table.versions().retention().replacedCount()).isEqualTo(2);

      clock.releaseBelow(clock.latestTimestamp());
      table.versions().retention().release(clock.lowWatermark());
      assertThat(table.versions().retention().replacedCount()).isZero();
      assertThatThrownBy(() -> table.asOf(old, ROW)).isInstanceOf(SnapshotTooOldException.class);
      assertThat(table.asOf(clock.latestTimestamp(), ROW).one().getString("v")).isEqualTo("new");
    }
  }

  /** They may be a quarter of the heap, beside as much for those that are written to now. */
  @Test
  void whenAMemtableIsFlushedThenNothingKeepsItThatAReaderOfThePastHasUsed() {
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      long old = write(table, "old");
      write(table, "new");
      assertThat(table.asOf(old, ROW).one().getString("v")).isEqualTo("old");
      WeakReference<Memtable> memtable = new WeakReference<>(memtable(table));

      table.flush();

      for (int i = 0; i < MAX_COLLECTIONS && !memtable.refersTo(null); i++) {
        System.gc();
      }
      assertThat(memtable.refersTo(null)).isTrue();
    }
  }

  private static Memtable memtable(VersionedTable table) {
    return CassandraInProcess.table(table.name).getTracker().getView().getCurrentMemtable();
  }

  @Test
  void whenATombstoneIsPurgedThenTheRowIsStillThereBeforeIt() throws Exception {
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      long old = write(table, "old");
      table.flush();
      table.execute("DELETE FROM %s USING TIMESTAMP " + clock.next() + " WHERE p = 1");
      table.flush();
      Thread.sleep(2500); // tombstones may go when their second is over
      table.compact();
      assertThat(CassandraInProcess.table(table.name).getLiveSSTables()).isEmpty();
      assertThat(table.asOf(old, ROW).one().getString("v")).isEqualTo("old");
      assertThat(table.asOf(clock.latestTimestamp(), ROW)).isEmpty();
    }
  }

  @Test
  void whenACellHasExpiredAndIsCompactedAwayThenReadersBeforeStillSeeIt() throws Exception {
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      long written = clock.next();
      table.execute(
          "INSERT INTO %s (p, v) VALUES (1, 'brief') USING TTL 1 AND TIMESTAMP " + written);
      table.flush();
      Thread.sleep(2500);
      clock.next(); // as time goes on, so do timestamps
      table.compact();
      long then = written / 1_000_000;
      assertThat(CassandraInProcess.table(table.name).getLiveSSTables()).isEmpty();
      String select = String.format(ROW, "test." + table.name, and(table, written));
      assertThat(CassandraInProcess.executeAt(then, select).one().getString("v"))
          .isEqualTo("brief");
    }
  }

  private static String and(VersionedTable table, long timestamp) {
    return "AND expr(" + VersionIndex.nameFor(table.name) + ", " + timestamp + ")";
  }

  @Test
  void whenAllOfAnSSTableIsNewerThenRangeReadsStillFindWhatItsDeletionsHide() {
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      long old = write(table, "old");
      table.execute("DELETE FROM %s USING TIMESTAMP " + clock.next() + " WHERE p = 1");
      table.flush();
      assertThat(table.asOf(old, "SELECT v FROM %s %s").one().getString("v")).isEqualTo("old");
      assertThat(table.asOf(clock.latestTimestamp(), "SELECT v FROM %s %s")).isEmpty();
    }
  }

  @Test
  void whenVersionsAreNoLongerNeededThenTheirMemoryIsFreed() {
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      long before = NodeVersions.ofThisNode().bytes();
      for (int i = 0; i < 100; i++) {
        write(table, "v" + i);
      }
      assertThat(NodeVersions.ofThisNode().bytes()).isGreaterThan(before);
      clock.releaseBelow(clock.latestTimestamp());
      NodeVersions.ofThisNode().budget().sweep();
      assertThat(NodeVersions.ofThisNode().bytes()).isZero();
      assertThat(NodeVersions.ofThisNode().versionCount()).isZero();
      assertThat(table.versions().store().partitionCount()).isZero();
    }
  }

  @Test
  void whenThereIsNoMoreRoomThenTheOldestGoAndWritersGoOn() {
    VersionBudget small = new VersionBudget(20_000, clock);
    Horizon horizon = new Horizon();
    VersionStore store = new VersionStore(small, horizon);
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      long first = clock.next();
      for (int i = 0; i < 1000; i++) {
        store.addRow(
            Rows.key(table.name, i % 10), Rows.row(table.name, clock.next()), false, clock.next());
        assertThat(small.bytes()).isLessThanOrEqualTo(20_000);
      }
      assertThat(small.evictedNeeded()).isPositive();
      assertThat(horizon.covers(first)).isFalse();
      assertThat(horizon.covers(clock.latestTimestamp())).isTrue();
      assertThatThrownBy(() -> horizon.check(first)).isInstanceOf(SnapshotTooOldException.class);
    }
  }

  @Test
  void whenATableIsTruncatedThenOlderSnapshotsOfItAreRefused() {
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      long old = write(table, "old");
      clock.next();
      table.execute("TRUNCATE %s");
      assertThatThrownBy(() -> table.asOf(old, ROW)).isInstanceOf(SnapshotTooOldException.class);
    }
  }

  @Test
  void whenATableIsDroppedThenItsSSTablesAreLetGo() {
    VersionedTable table = new VersionedTable(COLUMNS);
    write(table, "v");
    table.flush();
    SSTableRetention retention = table.versions().retention();
    write(table, "w");
    table.flush();
    table.compact();
    assertThat(retention.replacedCount()).isEqualTo(2);
    table.close();
    assertThat(retention.replacedCount()).isZero();
  }

  /** The clock of a replica that has not heard of the newest timestamps is behind readers. */
  @Test
  void whenATableIsTruncatedThenNobodyWhoBeganBeforeReadsIt() {
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      write(table, "old");
      clock.lagBehind();
      clock.next();
      long reader = clock.next();
      CassandraInProcess.table(table.name).truncateBlocking();
      assertThatThrownBy(() -> table.asOf(reader, ROW)).isInstanceOf(SnapshotTooOldException.class);
      assertThat(table.asOf(clock.next(), ROW)).isEmpty();
    } finally {
      clock.catchUp();
    }
  }

  @Test
  void whenANodeStartsThenItVouchesForNothingOlderThanWhatItHasWhateverItsClockSays() {
    try (VersionedTable table = new VersionedTable(COLUMNS)) {
      long ahead = clock.latestTimestamp() + 3_600_000_000L;
      table.execute("INSERT INTO %s (p, v) VALUES (1, 'v') USING TIMESTAMP " + ahead);
      table.flush();
      ColumnFamilyStore store = CassandraInProcess.table(table.name);
      VersionIndex after = new VersionIndex(store, store.metadata().indexes.iterator().next());
      assertThat(after.versions().horizon().timestamp()).isEqualTo(ahead);

      Horizon replayed = new Horizon();
      var flushed = new SSTableAddedNotification(store.getLiveSSTables(), null);
      new StartWatch(replayed, () -> true).handleNotification(flushed, this);
      assertThat(replayed.covers(ahead - 1)).isTrue();
      new StartWatch(replayed, () -> false).handleNotification(flushed, this);
      assertThat(replayed.timestamp()).isEqualTo(ahead);
    }
  }
}
