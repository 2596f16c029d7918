// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.NoSuchElementException;
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
  private final RowsWrittenSince changed;

  /** Whether the index has been asked for whole partitions, so that it says no more than these. */
  private final boolean isOfPartitions;

  /** What the index has found next; null if that is not known yet, or nothing. */
  private UnfilteredRowIterator nextFound;

  private Partition current;

  private IndexedRead(
      AsOfSearcher searcher,
      ReadExecutionController controller,
      ReadExecutionController ofIndex,
      UnfilteredPartitionIterator found,
      RowsWrittenSince changed,
      boolean isOfPartitions) {
    this.isOfPartitions = isOfPartitions;
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
   * @param isOfPartitions whether they are found in whole partitions, and only these count
   * @param before the place in the log from which on all is newer than the timestamp
   */
  static IndexedRead of(
      AsOfSearcher searcher,
      ReadExecutionController controller,
      ReadCommand indexed,
      boolean isOfPartitions,
      ChangeLog.Node before) {
    ReadExecutionController ofIndex = indexed.executionController();
    try {
      UnfilteredPartitionIterator found = indexed.indexSearcher().search(ofIndex);
      return new IndexedRead(
          searcher,
          controller,
          ofIndex,
          found,
          new RowsWrittenSince(searcher, indexed, before),
          isOfPartitions || isOfPartitions(indexed));
    } catch (RuntimeException | Error e) {
      ofIndex.close();
      throw e;
    }
  }

  /** Whether the index of a command is to be asked for whole partitions. */
  static boolean isOfPartitions(ReadCommand indexed) {
    return indexed.indexQueryPlan().getIndexes().stream().anyMatch(LossyIndex::isOfPartitions);
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
      isLastBatch = isOfPartitions || !takeFound(taken);
      changed.look();
      if (isOfPartitions || changed.isWhole(key)) {
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
}
