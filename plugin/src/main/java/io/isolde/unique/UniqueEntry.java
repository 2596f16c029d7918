// SPDX-License-Identifier: Apache-2.0
package io.isolde.unique;

import java.nio.ByteBuffer;
import java.util.List;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.DeletionTime;
import org.apache.cassandra.db.LivenessInfo;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.filter.ClusteringIndexNamesFilter;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.marshal.ByteBufferAccessor;
import org.apache.cassandra.db.marshal.CompositeType;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.BTreeRow;
import org.apache.cassandra.db.rows.BufferCell;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.FBUtilities;
import org.apache.cassandra.utils.btree.BTreeSet;

/**
 * One value of a unique index, with the row that has it.
 *
 * @param ttlSeconds of the column that ends first; 0 if none ends
 * @param endSeconds when that is, in seconds since 1970; as a cell has it if none ends
 */
public record UniqueEntry(
    UniqueKey index, DecoratedKey key, Owner owner, int ttlSeconds, long endSeconds) {
  /** The key of a row. */
  public record Owner(DecoratedKey key, Clustering<?> clustering) {
    /**
     * The row with some values.
     *
     * @param key of the columns of the partition key
     * @param clustering of the clustering columns
     */
    public static Owner of(TableMetadata table, List<ByteBuffer> key, List<ByteBuffer> clustering) {
      ByteBuffer bytes =
          key.size() == 1
              ? key.get(0)
              : CompositeType.build(ByteBufferAccessor.instance, key.toArray(ByteBuffer[]::new));
      return new Owner(
          table.partitioner.decorateKey(bytes),
          clustering.isEmpty()
              ? Clustering.EMPTY
              : Clustering.make(clustering.toArray(ByteBuffer[]::new)));
    }
  }

  /** Reads the entry of a key. */
  public static SinglePartitionReadCommand read(
      UniqueKey index, DecoratedKey key, long nowInSeconds) {
    return row(index.entries(), key, Clustering.EMPTY, nowInSeconds);
  }

  private static SinglePartitionReadCommand row(
      TableMetadata table, DecoratedKey key, Clustering<?> row, long nowInSeconds) {
    return SinglePartitionReadCommand.create(
        table,
        nowInSeconds,
        key,
        ColumnFilter.all(table),
        new ClusteringIndexNamesFilter(BTreeSet.of(table.comparator, row), false));
  }

  /** Whether it goes by itself. */
  boolean ends() {
    return endSeconds != Cell.NO_DELETION_TIME;
  }

  /** Whether a row needs no other entry than this one. */
  boolean isSame(UniqueEntry other) {
    return key.equals(other.key) && endSeconds == other.endSeconds;
  }

  PartitionUpdate insertion(long timestamp) {
    TableMetadata entries = index.entries();
    Row.Builder row = BTreeRow.sortedBuilder();
    row.newRow(Clustering.EMPTY);
    row.addPrimaryKeyLivenessInfo(
        LivenessInfo.withExpirationTime(timestamp, ttlSeconds, endSeconds));
    for (ColumnMetadata column : entries.regularColumns()) {
      ColumnMetadata own = index.table().getColumn(column.name);
      row.addCell(
          new BufferCell(
              column, timestamp, ttlSeconds, endSeconds, index.ownKeyValue(own, owner), null));
    }
    return PartitionUpdate.singleRowUpdate(entries, key, row.build());
  }

  static PartitionUpdate deletion(UniqueKey index, DecoratedKey key, long timestamp) {
    Row.Deletion deletion =
        Row.Deletion.regular(DeletionTime.build(timestamp - 1, FBUtilities.nowInSeconds()));
    return PartitionUpdate.singleRowUpdate(
        index.entries(), key, BTreeRow.emptyDeletedRow(Clustering.EMPTY, deletion));
  }
}
