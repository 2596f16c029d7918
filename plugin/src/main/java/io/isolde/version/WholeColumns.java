// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.rows.Rows;
import org.apache.cassandra.db.rows.UnfilteredRowIterator;
import org.apache.cassandra.db.transform.Transformation;
import org.apache.cassandra.schema.TableMetadata;

/**
 * The columns of a read. Cassandra leaves out cells that were not asked for if the row is newer
 * than they are, since the row is there anyhow. As of a timestamp the row may be there only because
 * of such a cell. So sources are read whole, and cells are left out of the result.
 */
final class WholeColumns {
  private WholeColumns() {}

  /** What to read from the sources. */
  static ColumnFilter of(ColumnFilter asked) {
    return asked.allFetchedColumnsAreQueried()
        ? asked
        : ColumnFilter.selection(asked.fetchedColumns());
  }

  /** What to make of the merged sources. */
  static UnfilteredRowIterator narrow(UnfilteredRowIterator merged, ColumnFilter asked) {
    return asked.allFetchedColumnsAreQueried()
        ? merged
        : Transformation.apply(merged, new Narrow(asked, merged.metadata()));
  }

  private static final class Narrow extends Transformation<UnfilteredRowIterator> {
    private final ColumnFilter asked;
    private final TableMetadata table;

    Narrow(ColumnFilter asked, TableMetadata table) {
      this.asked = asked;
      this.table = table;
    }

    @Override
    protected Row applyToRow(Row row) {
      return row.filter(asked, table);
    }

    @Override
    protected Row applyToStatic(Row row) {
      Row narrow = row.isEmpty() ? row : row.filter(asked, table);
      return narrow == null ? Rows.EMPTY_STATIC_ROW : narrow;
    }
  }
}
