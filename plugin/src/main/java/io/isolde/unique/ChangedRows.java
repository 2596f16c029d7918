// SPDX-License-Identifier: Apache-2.0
package io.isolde.unique;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.RangeTombstone;
import org.apache.cassandra.db.RegularAndStaticColumns;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
import org.apache.cassandra.db.filter.ClusteringIndexNamesFilter;
import org.apache.cassandra.db.filter.ClusteringIndexSliceFilter;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.partitions.FilteredPartition;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.ColumnData;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.rows.UnfilteredRowIterators;
import org.apache.cassandra.db.transform.FilteredRows;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.btree.BTreeSet;

/** What statements write to a partition of a table that has unique indexes. */
final class ChangedRows {
  /** Of a partition; they are in memory together, and the client waits for the reads. */
  private static final int MAX_ROWS = 5_000;

  private final List<UniqueKey> indexes;
  private final PartitionUpdate own;
  private final List<PartitionUpdate> updates = new ArrayList<>(1);

  /**
   * @param own what the transaction had written before; null for nothing
   */
  ChangedRows(List<UniqueKey> indexes, PartitionUpdate own) {
    this.indexes = indexes;
    this.own = own;
  }

  void add(PartitionUpdate update) {
    updates.add(update);
  }

  List<UniqueKey> indexes() {
    return indexes;
  }

  PartitionUpdate own() {
    return own;
  }

  private TableMetadata table() {
    return indexes.get(0).table();
  }

  /** Reads all rows whose entries may change: those that are named, and those that are deleted. */
  List<SinglePartitionReadCommand> commands(long nowInSeconds) {
    Slices.Builder slices = new Slices.Builder(table().comparator);
    BTreeSet.Builder<Clustering<?>> rows = BTreeSet.builder(table().comparator);
    boolean isWhole = false;
    boolean hasSlices = false;
    boolean hasRows = false;
    for (PartitionUpdate update : updates) {
      isWhole |= !update.deletionInfo().getPartitionDeletion().isLive();
      var ranges = update.deletionInfo().rangeIterator(false);
      while (ranges.hasNext()) {
        RangeTombstone range = ranges.next();
        slices.add(range.deletedSlice());
        hasSlices = true;
      }
      for (Row row : update) {
        if (mayChange(row)) {
          rows.add(row.clustering());
          hasRows = true;
        }
      }
    }
    DecoratedKey key = updates.get(0).partitionKey();
    List<SinglePartitionReadCommand> commands = new ArrayList<>(1);
    if (isWhole || hasSlices) {
      Slices deleted = isWhole ? Slices.ALL : slices.build();
      commands.add(command(key, new ClusteringIndexSliceFilter(deleted, false), nowInSeconds));
    }
    if (hasRows && !isWhole) {
      commands.add(command(key, new ClusteringIndexNamesFilter(rows.build(), false), nowInSeconds));
    }
    return commands;
  }

  private boolean mayChange(Row row) {
    if (!row.deletion().isLive()) {
      return true;
    }
    for (ColumnData data : row) {
      if (indexes.stream().anyMatch(index -> index.has(data.column()))) {
        return true;
      }
    }
    return false;
  }

  private SinglePartitionReadCommand command(
      DecoratedKey key, ClusteringIndexFilter rows, long nowInSeconds) {
    return command(indexes, key, rows, nowInSeconds);
  }

  /** Reads the columns of a row that an index is about. */
  static SinglePartitionReadCommand row(UniqueKey index, UniqueEntry.Owner row, long nowInSeconds) {
    BTreeSet<Clustering<?>> one = BTreeSet.of(index.table().comparator, row.clustering());
    return command(
        List.of(index), row.key(), new ClusteringIndexNamesFilter(one, false), nowInSeconds);
  }

  private static SinglePartitionReadCommand command(
      List<UniqueKey> indexes, DecoratedKey key, ClusteringIndexFilter rows, long nowInSeconds) {
    RegularAndStaticColumns.Builder columns = RegularAndStaticColumns.builder();
    indexes.forEach(index -> index.regularColumns().forEach(columns::add));
    return SinglePartitionReadCommand.create(
        indexes.get(0).table(),
        nowInSeconds,
        ColumnFilter.selection(columns.build()),
        RowFilter.none(),
        DataLimits.cqlLimits(MAX_ROWS + 1),
        key,
        rows);
  }

  /**
   * What was read, after the writes.
   *
   * @throws IsoldeException TRANSACTION_TOO_LARGE
   */
  FilteredPartition after(FilteredPartition before, long nowInSeconds) {
    if (before.rowCount() > MAX_ROWS) {
      throw IsoldeException.of(
          ErrorCode.TRANSACTION_TOO_LARGE,
          "The statement writes more than "
              + MAX_ROWS
              + " rows of a partition of "
              + table()
              + ", each of which may have an entry of a unique index; write or delete fewer at"
              + " once.",
          "table",
          table(),
          "limit",
          MAX_ROWS);
    }
    List<UnfilteredRowIterator> all = new ArrayList<>();
    all.add(before.unfilteredIterator());
    updates.forEach(update -> all.add(update.unfilteredIterator()));
    return FilteredPartition.create(
        FilteredRows.filter(UnfilteredRowIterators.merge(all), nowInSeconds));
  }
}
