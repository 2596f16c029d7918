// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.Slices;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.transform.Transformation;
import org.apache.cassandra.schema.TableMetadata;

/** Kept versions of one partition as sources of a read, each without what is newer than asOf. */
record KeptRows(
    TableMetadata table,
    ColumnFilter columns,
    boolean isReversed,
    DecoratedKey key,
    Slices slices,
    long asOf) {

  KeptRows(ReadCommand command, ColumnFilter columns, DecoratedKey key, Slices slices, long asOf) {
    this(command.metadata(), columns, command.isReversed(), key, slices, asOf);
  }

  List<UnfilteredRowIterator> of(List<Version> versions) {
    List<UnfilteredRowIterator> sources = new ArrayList<>();
    PartitionUpdate.Builder rows = null;
    for (Version version : versions) {
      if (version.content != null) {
        sources.add(Transformation.apply(selected(version.content), new AsOfFilter(asOf)));
        continue;
      }
      Row row = new AsOfFilter(asOf).applyToRow(version.row());
      if (row != null) {
        // A row updated often has many versions: they become one source, not one each.
        rows = rows == null ? builder(versions.size()) : rows;
        rows.add(row);
      }
    }
    if (rows != null) {
      sources.add(selected(rows.build()));
    }
    return sources;
  }

  private PartitionUpdate.Builder builder(int rowCapacity) {
    return new PartitionUpdate.Builder(table, key, table.regularAndStaticColumns(), rowCapacity);
  }

  private UnfilteredRowIterator selected(PartitionUpdate content) {
    return content.unfilteredIterator(columns, slices, isReversed);
  }
}
