// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import io.isolde.testing.CassandraInProcess;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.UTF8Type;
import org.apache.cassandra.db.rows.BTreeRow;
import org.apache.cassandra.db.rows.BufferCell;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableMetadata;

/** Rows of a table with a column v, made by hand. */
final class Rows {
  private Rows() {}

  static DecoratedKey key(String table, int key) {
    return metadata(table).partitioner.decorateKey(Int32Type.instance.decompose(key));
  }

  static Row row(String table, long timestamp) {
    ColumnMetadata column = metadata(table).getColumn(UTF8Type.instance.decompose("v"));
    return BTreeRow.singleCellRow(
        Clustering.EMPTY, BufferCell.live(column, timestamp, UTF8Type.instance.decompose("value")));
  }

  private static TableMetadata metadata(String table) {
    return CassandraInProcess.table(table).metadata();
  }
}
