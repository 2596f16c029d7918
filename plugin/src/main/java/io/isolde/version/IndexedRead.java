// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.NoSuchElementException;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.ClusteringComparator;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.EmptyIterators;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.ReadExecutionController;
import org.apache.cassandra.db.RegularAndStaticColumns;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
import org.apache.cassandra.db.filter.ClusteringIndexNamesFilter;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.UnfilteredPartitionIterator;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.db.rows.Unfiltered;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.rows.UnfilteredRowIterators;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.AbstractIterator;

/**
 * The rows as of a timestamp that an index and the {@link ChangeLog} say may match a filter, in the
 * order of their keys. A row that matched then either has not been written since, so that the index
 * has it, or it is in the log.
 *
 * <p>The index is always asked first: the log is looked at when the index has passed the rows in
 * question. So a row that is written between the two is found by either.
 */
final class IndexedRead extends AbstractIterator<RowIterator> implements PartitionIterator {
  /** As many as SAI reads at a time. */
  private static final int ROWS_PER_BATCH = 100;

  private final AsOfSearcher searcher;
  private final ReadCommand command;
  private final ReadExecutionController controller;
  private final ReadExecutionController ofIndex;
  private final UnfilteredPartitionIterator found;
  private final ChangedRows changed;

  /** What the index has found next; null if that is not known yet, or nothing. */
  private UnfilteredRowIterator nextFound;

  private Partition current;

  private IndexedRead(
      AsOfSearcher searcher,
      ReadExecutionController controller,
      ReadExecutionController ofIndex,
      UnfilteredPartitionIterator found,
      ChangedRows changed) {
    this.searcher = searcher;
    this.command = searcher.command();
    this.controller = controller;
    this.ofIndex = ofIndex;
    this.found = found;
    this.changed = changed;
  }

  /**
   * The candidates.
   *
   * @param indexed finds rows by what they have now
   * @param before the place in the log from which on all is newer than the timestamp
   */
  static IndexedRead of(
      AsOfSearcher searcher,
      ReadExecutionController controller,
      ReadCommand indexed,
      ChangeLog.Node before) {
    ReadExecutionController ofIndex = indexed.executionController();
    try {
      UnfilteredPartitionIterator found = indexed.indexSearcher().search(ofIndex);
      return new IndexedRead(
          searcher, controller, ofIndex, found, new ChangedRows(searcher, indexed, before));
    } catch (RuntimeException | Error e) {
      ofIndex.close();
      throw e;
    }
  }

  @Override
  protected RowIterator computeNext() {
    if (current != null) {
      current.close();
    }
    if (nextFound == null && found.hasNext()) {
      nextFound = found.next();
    }
    changed.look();
    DecoratedKey next = changed.firstKey();
    if (nextFound == null && next == null) {
      return endOfData();
    }
    if (nextFound != null && (next == null || nextFound.partitionKey().compareTo(next) <= 0)) {
      current = new Partition(nextFound.partitionKey(), nextFound);
      nextFound = null;
    } else {
      current = new Partition(next, null);
    }
    current.readBatch();
    return current;
  }

  @Override
  public void close() {
    try (ReadExecutionController index = ofIndex;
        UnfilteredPartitionIterator partitions = found;
        UnfilteredRowIterator rows = nextFound) {
      if (current != null) {
        current.close();
      }
    }
  }

  /** The candidates of one partition, some rows at a time. */
  private final class Partition implements RowIterator {
    private final DecoratedKey key;
    private final ClusteringIndexFilter selected;

    /** What the index has found here; null if nothing. */
    private final UnfilteredRowIterator foundRows;

    private RowIterator batch;

    /** The last row that is done; null if none is. */
    private Clustering<?> last;

    private boolean isLastBatch;
    private boolean isClosed;

    Partition(DecoratedKey key, UnfilteredRowIterator foundRows) {
      this.key = key;
      this.selected = searcher.selected(key);
      this.foundRows = foundRows;
    }

    private void readBatch() {
      List<Row> taken = new ArrayList<>();
      isLastBatch = !takeFound(taken);
      changed.look();
      if (changed.isWhole(key)) {
        isLastBatch = true;
        batch = read(last == null ? selected : selected.forPaging(comparator(), last, false));
        return;
      }
      NavigableSet<Clustering<?>> rows = new TreeSet<>(comparator());
      taken.forEach(row -> rows.add(row.clustering()));
      NavigableSet<Clustering<?>> written =
          changed.rows(key, last, isLastBatch ? null : rows.last());
      if (written.isEmpty() && isOfThen(taken)) {
        batch = filter(new AsOfPartitionRead.Content(foundRows, taken.iterator()));
      } else {
        rows.addAll(written);
        batch = read(rows);
      }
      last = rows.isEmpty() ? last : rows.last();
    }

    /** Whether rows, as the index has read them, are those of the timestamp. */
    private boolean isOfThen(List<Row> rows) {
      return !rows.isEmpty()
          && foundRows.partitionLevelDeletion().markedForDeleteAt() <= searcher.asOf()
          && !AsOfFilter.hasNewer(foundRows.staticRow(), searcher.asOf())
          && rows.stream().noneMatch(row -> AsOfFilter.hasNewer(row, searcher.asOf()))
          && AsOfPartitionRead.isIntact(searcher.versions(), searcher.cfs(), key, searcher.asOf());
    }

    /** Returns whether there are more. */
    private boolean takeFound(List<Row> rows) {
      while (foundRows != null && foundRows.hasNext()) {
        if (rows.size() == ROWS_PER_BATCH) {
          return true;
        }
        Unfiltered row = foundRows.next();
        if (row.isRow()) {
          rows.add((Row) row);
        }
      }
      return false;
    }

    private RowIterator read(NavigableSet<Clustering<?>> rows) {
      return rows.isEmpty()
          ? filter(EmptyIterators.unfilteredRow(command.metadata(), key, false))
          : read(new ClusteringIndexNamesFilter(rows, false));
    }

    private RowIterator read(ClusteringIndexFilter rows) {
      SinglePartitionReadCommand read =
          SinglePartitionReadCommand.create(
              command.metadata(), command.nowInSec(), key, command.columnFilter(), rows);
      return filter(
          new AsOfPartitionRead(searcher.versions(), searcher.cfs(), read, searcher.asOf())
              .read(controller));
    }

    private RowIterator filter(UnfilteredRowIterator rows) {
      return UnfilteredRowIterators.filter(rows, command.nowInSec());
    }

    private ClusteringComparator comparator() {
      return command.metadata().comparator;
    }

    @Override
    public boolean hasNext() {
      while (!batch.hasNext()) {
        if (isLastBatch) {
          return false;
        }
        batch.close();
        readBatch();
      }
      return true;
    }

    @Override
    public Row next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return batch.next();
    }

    @Override
    public TableMetadata metadata() {
      return command.metadata();
    }

    @Override
    public boolean isReverseOrder() {
      return false;
    }

    @Override
    public RegularAndStaticColumns columns() {
      return batch.columns();
    }

    @Override
    public DecoratedKey partitionKey() {
      return key;
    }

    @Override
    public Row staticRow() {
      return batch.staticRow();
    }

    @Override
    public void close() {
      if (isClosed) {
        return;
      }
      isClosed = true;
      changed.passed(key);
      try (RowIterator read = batch) {
        if (foundRows != null) {
          foundRows.close();
        }
      }
    }
  }

  /** What a command selects of the rows that were written after its timestamp. */
  private static final class ChangedRows {
    private final AsOfSearcher searcher;

    /** Whether a change may be one of all rows of its partition. */
    private final boolean isByPartition;

    /** Whether an index lets go of what a write replaces, perhaps before the log has the write. */
    private final boolean forgets;

    private ChangeLog.Node lastSeen;
    private DecoratedKey passed;
    private final TreeMap<DecoratedKey, OfPartition> partitions = new TreeMap<>();

    ChangedRows(AsOfSearcher searcher, ReadCommand indexed, ChangeLog.Node before) {
      this.searcher = searcher;
      this.forgets =
          indexed.indexQueryPlan().getIndexes().stream()
              .anyMatch(index -> index.getBackingTable().isPresent());
      this.isByPartition =
          searcher.filter().hasStaticExpression()
              || !searcher.filter().hasExpressionOnClusteringOrRegularColumns();
      this.lastSeen = before;
    }

    private static final class OfPartition {
      private final NavigableSet<Clustering<?>> rows;
      private boolean isWhole;

      OfPartition(ClusteringComparator comparator) {
        rows = new TreeSet<>(comparator);
      }
    }

    /**
     * Takes what has been written since the last look.
     *
     * @throws SnapshotTooOldException if something may have gone that nobody has written down
     */
    void look() {
      if (forgets) {
        searcher
            .versions()
            .changes()
            .awaitWriting(key -> !hasPassed(key) && searcher.selects(key))
            .forEach(key -> ofPartition(key).isWhole = true);
      }
      for (ChangeLog.Node node = lastSeen.next(); node != null; node = node.next()) {
        lastSeen = node;
        if (isSelected(node.change)) {
          OfPartition partition = ofPartition(node.change.key());
          if (isByPartition || node.change.row() == null) {
            partition.isWhole = true;
          } else {
            partition.rows.add(node.change.row());
          }
        }
      }
      searcher.versions().horizon().check(searcher.asOf());
      if (!searcher.versions().changes().isOn()) {
        throw new SnapshotTooOldException(searcher.asOf(), searcher.asOf() + 1); // no index now
      }
    }

    private OfPartition ofPartition(DecoratedKey key) {
      return partitions.computeIfAbsent(
          key, made -> new OfPartition(searcher.command().metadata().comparator));
    }

    private boolean hasPassed(DecoratedKey key) {
      return passed != null && key.compareTo(passed) <= 0;
    }

    private boolean isSelected(ChangeLog.Change change) {
      if (change.timestamp() <= searcher.asOf()
          || hasPassed(change.key())
          || !searcher.selects(change.key())) {
        return false;
      }
      if (change.row() == Clustering.STATIC_CLUSTERING) {
        return isByPartition;
      }
      return change.row() == null || searcher.selected(change.key()).selects(change.row());
    }

    /** Returns null if nothing more has changed. */
    DecoratedKey firstKey() {
      return partitions.isEmpty() ? null : partitions.firstKey();
    }

    boolean isWhole(DecoratedKey key) {
      OfPartition partition = partitions.get(key);
      return isByPartition || (partition != null && partition.isWhole);
    }

    /**
     * Rows that have changed.
     *
     * @param after null for the first
     * @param upTo null for the last
     */
    NavigableSet<Clustering<?>> rows(DecoratedKey key, Clustering<?> after, Clustering<?> upTo) {
      OfPartition partition = partitions.get(key);
      if (partition == null) {
        return new TreeSet<>(searcher.command().metadata().comparator);
      }
      NavigableSet<Clustering<?>> rows = partition.rows;
      rows = after == null ? rows : rows.tailSet(after, false);
      return upTo == null ? rows : rows.headSet(upTo, true);
    }

    void passed(DecoratedKey key) {
      passed = key;
      partitions.remove(key);
    }
  }
}
