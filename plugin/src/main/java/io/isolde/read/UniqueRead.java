// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import io.isolde.unique.UniqueEntry;
import io.isolde.unique.UniqueKey;
import io.isolde.version.IndexedColumns;
import io.isolde.version.NodeVersions;
import io.isolde.version.VersionIndex;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.cassandra.cql3.Operator;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.EmptyIterators;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
import org.apache.cassandra.db.filter.ClusteringIndexNamesFilter;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.partitions.FilteredPartition;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.partitions.PartitionIterators;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.btree.BTreeSet;

/**
 * A query that gives a value for each column of a unique index: two reads of one row, that of the
 * entry and the one that it leads to.
 */
public record UniqueRead(SnapshotQuery<?> query, UniqueKey index, List<ByteBuffer> values) {
  /** Empty if no index has all rows of the snapshot, and all of its columns in the query. */
  static Optional<UniqueRead> of(SnapshotQuery<?> query) {
    if (query.rowFilter().isEmpty()) {
      return Optional.empty();
    }
    for (UniqueKey index : UniqueKey.now(query.metadata())) {
      List<ByteBuffer> values = values(index, query);
      if (values.size() == index.columns().size()
          && index.columns().stream().noneMatch(column -> isComparedOtherwise(query, column))
          && index.isReadableAt(query.snapshot.asOf())
          && NodeVersions.ofThisNode().of(index.entriesId()) != null) {
        return Optional.of(new UniqueRead(query, index, values));
      }
    }
    return Optional.empty();
  }

  /** Another index of the column may find other values, too, such as those in other letters. */
  private static boolean isComparedOtherwise(SnapshotQuery<?> query, ColumnMetadata column) {
    IndexedColumns others = query.snapshot.versions().indexedColumns();
    return others.isIndexed(column) && !others.isExact(column);
  }

  private static List<ByteBuffer> values(UniqueKey index, SnapshotQuery<?> query) {
    List<ByteBuffer> values = new ArrayList<>();
    for (ColumnMetadata column : index.columns()) {
      ByteBuffer value =
          column.isPrimaryKeyColumn() && query instanceof SnapshotPartitionQuery partition
              ? keyValue(index, column, partition)
              : value(column, query.rowFilter());
      if (value != null) {
        values.add(value);
      }
    }
    return values;
  }

  /** Returns null if the query is of several rows. */
  private static ByteBuffer keyValue(
      UniqueKey index, ColumnMetadata column, SnapshotPartitionQuery query) {
    if (column.isPartitionKey()) {
      return index.keyValue(column, query.partitionKey(), Clustering.EMPTY);
    }
    return query.clusteringIndexFilter() instanceof ClusteringIndexNamesFilter names
            && names.requestedRows().size() == 1
        ? names.requestedRows().first().bufferAt(column.position())
        : value(column, query.rowFilter());
  }

  /** Returns null if the filter does not ask for one. */
  private static ByteBuffer value(ColumnMetadata column, RowFilter filter) {
    for (RowFilter.Expression expression : filter) {
      if (!expression.isCustom()
          && expression.operator() == Operator.EQ
          && expression.column().equals(column)) {
        return expression.getIndexValue();
      }
    }
    return null;
  }

  /**
   * Whether rows need not be looked through, as far as unique indexes make that so: they want all
   * of their columns.
   *
   * @param isOfPartitions whether the keys of partitions are given
   */
  public static boolean isIndexed(TableMetadata table, boolean isOfPartitions, RowFilter filter) {
    Set<ColumnMetadata> missing = new HashSet<>();
    Set<ColumnMetadata> enough = new HashSet<>();
    for (UniqueKey index : UniqueKey.now(table)) {
      boolean isComplete =
          index.columns().stream()
              .allMatch(
                  column ->
                      (isOfPartitions && column.isPrimaryKeyColumn())
                          || value(column, filter) != null);
      (isComplete ? enough : missing).addAll(index.columns());
    }
    missing.removeAll(enough);
    for (RowFilter.Expression expression : filter) {
      if (missing.contains(expression.column()) && !IndexedExpression.isKnown(table, expression)) {
        return false;
      }
    }
    return true;
  }

  /** The row, if it is one that the query asks for. */
  PartitionIterator execute(ReadFor reader) {
    Optional<UniqueEntry.Owner> owner = owner(reader);
    ClusteringIndexFilter rows = owner.map(row -> query.rowsIn(row.key())).orElse(null);
    if (rows == null || !rows.selects(owner.get().clustering())) {
      return EmptyIterators.partition();
    }
    Clustering<?> row = owner.get().clustering();
    SinglePartitionReadCommand command =
        SinglePartitionReadCommand.create(
            query.metadata(),
            query.nowInSec(),
            query.columnFilter(),
            query.rowFilter(),
            query.limits(),
            owner.get().key(),
            new ClusteringIndexNamesFilter(
                BTreeSet.of(query.metadata().comparator, row), rows.isReversed()));
    return new SnapshotPartitionQuery(query.warning(command), query.snapshot).filtered(reader);
  }

  private Optional<UniqueEntry.Owner> owner(ReadFor reader) {
    if (!index.isPossible(values)) {
      return Optional.empty();
    }
    Snapshot snapshot = query.snapshot;
    VersionIndex versions = NodeVersions.ofThisNode().of(index.entriesId());
    Snapshot ofEntries =
        new Snapshot(
            snapshot.asOf(),
            versions,
            snapshot.ownWrites(),
            snapshot.recorder(),
            snapshot.replicas());
    SinglePartitionReadCommand command =
        UniqueEntry.read(index, index.entryKey(values), query.nowInSec());
    try (PartitionIterator found = reader.execute(ofEntries.of(command))) {
      Row entry =
          FilteredPartition.create(PartitionIterators.getOnlyElement(found, command))
              .getRow(Clustering.EMPTY);
      return Optional.ofNullable(entry).map(row -> index.ownerOf(command.partitionKey(), row));
    }
  }
}
