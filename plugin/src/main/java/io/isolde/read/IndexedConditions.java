// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import io.isolde.version.IndexedColumns;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.cassandra.cql3.Operator;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.schema.ColumnMetadata;

/**
 * What a write must have written to make a row match a filter. Commits tell the oracle of that for
 * columns that have an index.
 */
final class IndexedConditions {
  private IndexedConditions() {}

  /**
   * The conditions; a write that makes a row match fulfils one of them.
   *
   * @return empty if rows may begin to match by other writes: as a row that is inserted matches a
   *     filter of static columns
   */
  static Optional<List<ReadRecorder.Condition>> of(
      RowFilter filter, IndexedColumns columns, long asOf) {
    List<ReadRecorder.Condition> conditions = new ArrayList<>();
    boolean hasRegular = false;
    for (RowFilter.Expression expression : filter) {
      ColumnMetadata column = expression.column();
      if (column.isPrimaryKeyColumn()) {
        continue; // It says which rows are asked for.
      }
      if (expression.isCustom() || !columns.isReportedSince(column, asOf)) {
        return Optional.empty();
      }
      hasRegular |= column.isRegular();
      boolean isExact =
          expression.operator() == Operator.EQ
              && !column.type.isMultiCell()
              && columns.isExact(column);
      conditions.add(
          new ReadRecorder.Condition(column, isExact ? expression.getIndexValue() : null));
    }
    return hasRegular ? Optional.of(conditions) : Optional.empty();
  }
}
