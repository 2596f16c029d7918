// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.read;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.RegularAndStaticColumns;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.TableMetadata;

/**
 * The queries of a prepared SELECT, sent to another table with the same columns. Columns that the
 * other table does not have were added later, and are null.
 */
final class Retarget implements UnaryOperator<ReadQuery> {
  private final SelectStatement select;
  private final TableMetadata target;

  private Retarget(SelectStatement select, TableMetadata target) {
    this.select = select;
    this.target = target;
  }

  static Retarget of(SelectStatement select, TableMetadata target) {
    return new Retarget(select, target);
  }

  @Override
  public ReadQuery apply(ReadQuery query) {
    if (query.isEmpty()) {
      return query;
    }
    if (query instanceof SinglePartitionReadCommand.Group group) {
      List<SinglePartitionReadCommand> commands = group.queries.stream().map(this::there).toList();
      return SinglePartitionReadCommand.Group.create(commands, group.limits());
    }
    PartitionRangeReadCommand range = (PartitionRangeReadCommand) query;
    return PartitionRangeReadCommand.create(
        target,
        range.nowInSec(),
        columns(range.columnFilter()),
        checked(range.rowFilter()),
        range.limits(),
        range.dataRange());
  }

  private SinglePartitionReadCommand there(SinglePartitionReadCommand command) {
    return SinglePartitionReadCommand.create(
        target,
        command.nowInSec(),
        columns(command.columnFilter()),
        checked(command.rowFilter()),
        command.limits(),
        command.partitionKey(),
        command.clusteringIndexFilter());
  }

  private ColumnFilter columns(ColumnFilter asked) {
    if (asked.allFetchedColumnsAreQueried() && asked.fetchesAllColumns(false)) {
      return ColumnFilter.all(target);
    }
    RegularAndStaticColumns.Builder here = RegularAndStaticColumns.builder();
    for (ColumnMetadata column : asked.queriedColumns()) {
      ColumnMetadata same = target.getColumn(column.name);
      if (same != null && !same.isPrimaryKeyColumn()) {
        here.add(same);
      }
    }
    return ColumnFilter.selection(
        target, here.build(), select.getRestrictions().returnStaticContentOnPartitionWithNoRows());
  }

  private RowFilter checked(RowFilter filter) {
    for (RowFilter.Expression expression : filter) {
      if (expression.isCustom() || target.getColumn(expression.column().name) == null) {
        throw IsoldeException.of(
            ErrorCode.UNSUPPORTED_INDEX_QUERY,
            "The snapshot "
                + target
                + " can't answer that: it is about an index, or a column, that"
                + " the snapshot does not have.",
            "table",
            target);
      }
    }
    return filter;
  }
}
