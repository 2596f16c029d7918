// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.partitions.PartitionIterator;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.RowIterator;
import org.apache.cassandra.db.transform.Transformation;
import org.apache.cassandra.schema.TableMetadata;

/** Hears which rows a SELECT returns, and may leave some out. */
public interface FoundRows {
  /** For an ordinary SELECT. */
  FoundRows NONE =
      new FoundRows() {
        @Override
        public boolean isExcluded(TableMetadata table, DecoratedKey key, Clustering<?> row) {
          return false;
        }

        @Override
        public void found(TableMetadata table, DecoratedKey key, Clustering<?> row) {}
      };

  /** Whether a row is left out, before any limit counts. */
  boolean isExcluded(TableMetadata table, DecoratedKey key, Clustering<?> row);

  /** A row is returned; a static one if there is no other in its partition. */
  void found(TableMetadata table, DecoratedKey key, Clustering<?> row);

  /** Leaves rows out. */
  static PartitionIterator exclude(FoundRows rows, PartitionIterator partitions) {
    return rows == NONE ? partitions : Transformation.apply(partitions, new Exclusion(rows));
  }

  /** Reports those that are returned. */
  static PartitionIterator report(FoundRows rows, PartitionIterator partitions) {
    return rows == NONE ? partitions : Transformation.apply(partitions, new Report(rows));
  }

  /** Without the rows that are left out. */
  final class Exclusion extends Transformation<RowIterator> {
    private final FoundRows rows;

    private Exclusion(FoundRows rows) {
      this.rows = rows;
    }

    @Override
    protected RowIterator applyToPartition(RowIterator partition) {
      if (!partition.hasNext()) {
        return isExcluded(partition, Clustering.STATIC_CLUSTERING) ? none(partition) : partition;
      }
      RowIterator rest =
          Transformation.apply(
              partition,
              new Transformation<RowIterator>() {
                @Override
                protected Row applyToRow(Row row) {
                  return isExcluded(partition, row.clustering()) ? null : row;
                }
              });
      // With no row left, the static row would look like one.
      return rest.hasNext() ? rest : none(rest);
    }

    private boolean isExcluded(RowIterator partition, Clustering<?> row) {
      return rows.isExcluded(partition.metadata(), partition.partitionKey(), row);
    }

    private static RowIterator none(RowIterator partition) {
      partition.close();
      return null;
    }
  }

  /** Reports each row as it passes. */
  final class Report extends Transformation<RowIterator> {
    private final FoundRows rows;

    private Report(FoundRows rows) {
      this.rows = rows;
    }

    @Override
    protected RowIterator applyToPartition(RowIterator partition) {
      TableMetadata table = partition.metadata();
      DecoratedKey key = partition.partitionKey();
      if (!partition.hasNext()) {
        rows.found(table, key, Clustering.STATIC_CLUSTERING);
      }
      return Transformation.apply(
          partition,
          new Transformation<RowIterator>() {
            @Override
            protected Row applyToRow(Row row) {
              rows.found(table, key, row.clustering());
              return row;
            }
          });
    }
  }
}
