// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.RangeTombstone;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.memtable.Memtable;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.BTreeRow;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.ColumnData;
import org.apache.cassandra.db.rows.ComplexColumnData;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.Rows;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.transform.Transformation;
import org.apache.cassandra.index.Index;
import org.apache.cassandra.io.sstable.SSTableReadsListener;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.memory.HeapCloner;

/**
 * Keeps what one partition update replaces in a memtable. Called before the memtable publishes the
 * update, once for each attempt to do so: what a failed attempt keeps is kept twice, harmlessly.
 *
 * <p>What a write inserts needs nothing: older versions of it are in SSTables, and stay.
 */
final class VersionWriter implements Index.Indexer {
  /**
   * Memtables on the heap free nothing until they go, so what they hold can be kept without a copy
   * until then. Those off the heap free it under the feet of a reader.
   */
  private static final boolean MAY_BORROW =
      switch (DatabaseDescriptor.getMemtableAllocationType()) {
        case heap_buffers, unslabbed_heap_buffers, unslabbed_heap_buffers_logged -> true;
        case offheap_buffers, offheap_objects -> false;
      };

  private final TableMetadata table;
  private final VersionStore store;
  private final ChangeLog changes;
  private final VersionClock clock;
  private final DecoratedKey key;
  private final Memtable memtable;

  /** Whether readers by an index wait for this one. */
  private boolean isWatched;

  VersionWriter(
      TableMetadata table,
      TableVersions versions,
      VersionClock clock,
      DecoratedKey key,
      Memtable memtable) {
    this.table = table;
    this.store = versions.store();
    this.changes = versions.changes();
    this.clock = clock;
    this.key = key;
    this.memtable = memtable;
  }

  @Override
  public void begin() {
    isWatched = changes.begin(this, key);
  }

  @Override
  public void finish() {
    if (isWatched) {
      changes.end(this);
    }
  }

  /** Nothing is replaced, but indexes have the row from now on. */
  @Override
  public void insertRow(Row row) {
    if (changes.isOn()) {
      changed(row, newest(row));
    }
  }

  private void changed(Row row, long timestamp) {
    boolean expires = row.primaryKeyLivenessInfo().isExpiring();
    for (Cell<?> cell : row.cells()) {
      expires |= cell.isExpiring();
    }
    if (expires) {
      changes.sawExpiring(memtable);
    }
    Clustering<?> onHeap =
        row.isStatic() ? row.clustering() : HeapCloner.instance.clone(row.clustering());
    changes.add(new ChangeLog.Change(key, onHeap, timestamp));
  }

  /**
   * Keeps what a write replaced in a row.
   *
   * @param old the row's liveness and deletion before the write, and the cells that it replaced
   * @param merged the row's liveness and deletion after the write, and the cells that it brought
   */
  @Override
  public void updateRow(Row old, Row merged) {
    if (changes.isOn()) {
      changed(
          merged,
          isUnnoticed(old, merged)
              ? clock.latestTimestamp() + VersionClock.MAX_AHEAD_MICROS
              : newest(merged));
    }
    Row complexDeletions = hasComplexColumns(old) ? complexDeletions(old) : null;
    boolean replacedCells = old.columnCount() > 0;
    boolean replacedLiveness =
        !old.primaryKeyLivenessInfo().isEmpty()
            && !old.primaryKeyLivenessInfo().equals(merged.primaryKeyLivenessInfo());
    boolean replacedDeletion =
        !old.deletion().isLive() && !old.deletion().equals(merged.deletion());
    if (!replacedCells && !replacedLiveness && !replacedDeletion && complexDeletions == null) {
      return;
    }
    Row kept = complexDeletions == null ? old : Rows.merge(old, complexDeletions);
    if (MAY_BORROW) {
      store.addRow(key, kept, true, supersededAt(old, merged));
    } else {
      store.addRow(key, kept.clone(HeapCloner.instance), false, supersededAt(old, merged));
    }
  }

  private boolean hasComplexColumns(Row row) {
    return (row.isStatic() ? table.staticColumns() : table.regularColumns()).hasComplex();
  }

  /**
   * The deletions of whole collections in a row: the index hook does not hand them over, so they
   * are read from the memtable, which does not have the update yet.
   */
  private Row complexDeletions(Row row) {
    Row current = currentRow(row);
    if (current == null || !current.hasComplexDeletion()) {
      return null;
    }
    Row.Builder deletions = BTreeRow.sortedBuilder();
    deletions.newRow(current.clustering());
    for (ColumnData data : current) {
      if (data instanceof ComplexColumnData complex && !complex.complexDeletion().isLive()) {
        deletions.addComplexDeletion(complex.column(), complex.complexDeletion());
      }
    }
    return deletions.build();
  }

  private Row currentRow(Row row) {
    Slices slices =
        row.isStatic() ? Slices.NONE : Slices.with(table.comparator, Slice.make(row.clustering()));
    try (UnfilteredRowIterator current = memtableRows(slices)) {
      if (current == null) {
        return null;
      }
      if (row.isStatic()) {
        return current.staticRow();
      }
      while (current.hasNext()) {
        Unfiltered unfiltered = current.next();
        if (unfiltered.isRow()) {
          return (Row) unfiltered;
        }
      }
      return null;
    }
  }

  /** A deletion hides rows without an {@link #updateRow}: all that it hides is kept. */
  @Override
  public void partitionDelete(DeletionTime deletion) {
    changedMany(deletion);
    keep(Slices.ALL, deletion.markedForDeleteAt());
  }

  @Override
  public void rangeTombstone(RangeTombstone tombstone) {
    changedMany(tombstone.deletionTime());
    Slices slices = Slices.with(table.comparator, tombstone.deletedSlice());
    keep(slices, tombstone.deletionTime().markedForDeleteAt());
  }

  private void changedMany(DeletionTime deletion) {
    if (changes.isOn()) {
      changes.add(new ChangeLog.Change(key, null, deletion.markedForDeleteAt()));
    }
  }

  private void keep(Slices slices, long deletedAt) {
    try (UnfilteredRowIterator current = memtableRows(slices)) {
      if (current == null || current.isEmpty()) {
        return;
      }
      UnfilteredRowIterator onHeap = Transformation.apply(current, new CopyToHeap());
      PartitionUpdate content = PartitionUpdate.fromIterator(onHeap, ColumnFilter.all(table));
      store.addContent(key, content, Math.max(deletedAt, clock.latestTimestamp()));
    }
  }

  private UnfilteredRowIterator memtableRows(Slices slices) {
    return memtable.rowIterator(
        key, slices, ColumnFilter.all(table), false, SSTableReadsListener.NOOP_LISTENER);
  }

  /** Never too small: a version that is kept for too long is merged in vain, but never wrong. */
  private long supersededAt(Row old, Row merged) {
    if (isUnnoticed(old, merged)) {
      return Version.NOT_KNOWN_YET;
    }
    return Math.max(clock.latestTimestamp(), newest(merged));
  }

  private static long newest(Row row) {
    long newest = row.primaryKeyLivenessInfo().timestamp();
    newest = Math.max(newest, row.deletion().time().markedForDeleteAt());
    for (ColumnData data : row) {
      newest = Math.max(newest, data.maxTimestamp());
    }
    return newest;
  }

  /**
   * Whether all that the write has done may be to delete whole collections: as the index hook does
   * not hand that over, nothing in the merged row has the write's timestamp then, which may be
   * above the clock's.
   */
  private static boolean isUnnoticed(Row old, Row merged) {
    boolean hasOwn =
        merged.columnCount() > 0
            || !merged.primaryKeyLivenessInfo().equals(old.primaryKeyLivenessInfo())
            || !merged.deletion().equals(old.deletion());
    return !hasOwn;
  }

  private static final class CopyToHeap extends Transformation<UnfilteredRowIterator> {
    @Override
    protected Row applyToRow(Row row) {
      return row.clone(HeapCloner.instance);
    }

    @Override
    protected Row applyToStatic(Row row) {
      return row.isEmpty() ? row : row.clone(HeapCloner.instance);
    }
  }
}
