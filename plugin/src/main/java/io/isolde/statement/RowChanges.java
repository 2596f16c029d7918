// SPDX-License-Identifier: Apache-2.0
package io.isolde.statement;

import io.isolde.apply.ListCellPaths;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.function.Function;
import org.apache.cassandra.cql3.Validation;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.RegularAndStaticColumns;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.Slice;
import org.apache.cassandra.db.filter.ClusteringIndexNamesFilter;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.partitions.FilteredPartition;
import org.apache.cassandra.db.partitions.Partition;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.index.IndexRegistry;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.btree.BTreeSet;

/**
 * What statements make of the rows that they have read, by Cassandra's own operations: elements of
 * lists by index or value, and numbers that something is added to.
 */
final class RowChanges {
  /** A statement with the rows that it reads. */
  private record Change(BoundWrite write, Partition found) {}

  private RowChanges() {}

  /**
   * What a statement without conditions writes, in all its partitions.
   *
   * @param read reads its rows
   */
  static List<PartitionUpdate> of(
      BoundWrite write,
      WriteMoment moment,
      Function<SinglePartitionReadCommand, FilteredPartition> read) {
    TableMetadata table = write.statement().metadata();
    List<PartitionUpdate> updates = new ArrayList<>();
    for (ByteBuffer bytes :
        write
            .statement()
            .buildPartitionKeyNames(write.options(), moment.state().getClientState())) {
      Validation.validateKey(table, bytes);
      DecoratedKey key = table.partitioner.decorateKey(bytes);
      Change change = new Change(write, read(write, key, moment, read));
      PartitionUpdate update = of(table, key, List.of(change), moment);
      if (!update.isEmpty()) {
        updates.add(update);
      }
    }
    return updates;
  }

  /** The rows that a statement names, as far as it reads them. */
  private static FilteredPartition read(
      BoundWrite write,
      DecoratedKey key,
      WriteMoment moment,
      Function<SinglePartitionReadCommand, FilteredPartition> read) {
    TableMetadata table = write.statement().metadata();
    NavigableSet<Clustering<?>> rows =
        write.statement().createClustering(write.options(), moment.state().getClientState());
    return read.apply(
        SinglePartitionReadCommand.create(
            table,
            moment.state().getNowInSeconds(),
            key,
            ColumnFilter.selection(write.statement().conditionColumns()),
            new ClusteringIndexNamesFilter(
                rows.contains(Clustering.STATIC_CLUSTERING)
                    ? BTreeSet.empty(table.comparator)
                    : rows,
                false)));
  }

  /**
   * What statements write to a partition at one moment, if their conditions hold.
   *
   * @param found what the conditions have read
   * @param read reads the rows of statements that have none
   */
  static PartitionUpdate of(
      List<BoundWrite> writes,
      FilteredPartition found,
      WriteMoment moment,
      Function<SinglePartitionReadCommand, FilteredPartition> read) {
    List<Change> changes = new ArrayList<>();
    for (BoundWrite write : writes) {
      FilteredPartition rows =
          write.readsWithoutCondition() ? read(write, found.partitionKey(), moment, read) : found;
      changes.add(new Change(write, rows));
    }
    return of(found.metadata(), found.partitionKey(), changes, moment);
  }

  private static PartitionUpdate of(
      TableMetadata table, DecoratedKey key, List<Change> changes, WriteMoment moment) {
    RegularAndStaticColumns.Builder columns = RegularAndStaticColumns.builder();
    changes.forEach(change -> columns.addAll(change.write().statement().updatedColumns()));
    PartitionUpdate.Builder builder =
        new PartitionUpdate.Builder(table, key, columns.build(), changes.size());
    PlacedParameters.Places places = new PlacedParameters.Places(moment.placeMicros());
    for (Change change : changes) {
      add(
          change.write(),
          new PlacedParameters(change.write(), moment, change.found(), places),
          moment,
          builder);
    }
    // Deletions get one less, as Paxos has it: a statement beside them stays.
    PartitionUpdate update =
        new PartitionUpdate.Builder(builder.build(), 0)
            .updateAllTimestamp(moment.state().getTimestamp())
            .build();
    IndexRegistry.obtain(table).validate(update, moment.state().getClientState());
    return ListCellPaths.hasLists(update) ? marked(update, changes, moment) : update;
  }

  private static void add(
      BoundWrite write,
      PlacedParameters parameters,
      WriteMoment moment,
      PartitionUpdate.Builder builder) {
    ModificationStatement statement = write.statement();
    if (statement.hasSlices()) {
      for (Slice slice : statement.createSlices(write.options())) {
        statement.addUpdateForKey(builder, slice, parameters);
      }
      return;
    }
    for (Clustering<?> row :
        statement.createClustering(write.options(), moment.state().getClientState())) {
      row.validate();
      statement.addUpdateForKey(builder, row, parameters);
    }
  }

  /** Elements that were found keep their place, unless they are new in the transaction, too. */
  private static PartitionUpdate marked(
      PartitionUpdate update, List<Change> changes, WriteMoment moment) {
    return ListCellPaths.rewritten(
        update,
        row ->
            ListCellPaths.marked(
                row,
                moment.state().getTimestamp(),
                cell -> keeps(cell, row.clustering(), changes, moment.asOf())));
  }

  private static boolean keeps(
      Cell<?> written, Clustering<?> row, List<Change> changes, long asOf) {
    ColumnMetadata column = written.column();
    for (Change change : changes) {
      Cell<?> before = PlacedParameters.cell(change.found(), row, column, written.path());
      if (before != null) {
        return before.timestamp() <= asOf || ListCellPaths.keepsPlace(before);
      }
    }
    return false;
  }
}
