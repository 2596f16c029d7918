// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.PartitionRangeReadCommand;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.db.SinglePartitionReadCommand;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.filter.DataLimits;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;

/**
 * A prepared SELECT, read from a snapshot. Cassandra makes its queries in one overridable method;
 * the rest of a statement is private, so it is copied field by field.
 */
public class SnapshotSelect extends SelectStatement {
  /** The fields of a SELECT that its constructor takes and that nothing gives out. */
  private static final List<Field> COPIED =
      List.of(
          field("limit"),
          field("perPartitionLimit"),
          field("isReversed"),
          field("aggregationSpecFactory"),
          field("orderingComparator"));

  private final UnaryOperator<ReadQuery> instead;

  /** Whether rows are filtered when all replicas' answers are merged, and not before. */
  private final boolean filtersMergedRows;

  public SnapshotSelect(SelectStatement select, Snapshot snapshot) {
    this(select.table, select, query -> asOf(query, snapshot), true);
  }

  /**
   * The same statement with other queries.
   *
   * @param instead makes them from those of the statement
   */
  public SnapshotSelect(SelectStatement select, UnaryOperator<ReadQuery> instead) {
    this(select.table, select, instead, false);
  }

  /**
   * The same statement with other metadata of its table.
   *
   * @param table with the same columns, maybe masked otherwise
   */
  public SnapshotSelect(
      TableMetadata table, SelectStatement select, UnaryOperator<ReadQuery> instead) {
    this(table, select, instead, false);
  }

  private SnapshotSelect(
      TableMetadata table,
      SelectStatement select,
      UnaryOperator<ReadQuery> instead,
      boolean filtersMergedRows) {
    super(
        table,
        select.bindVariables,
        select.parameters,
        select.getSelection(),
        select.getRestrictions(),
        false,
        null,
        null,
        null,
        null);
    this.instead = instead;
    this.filtersMergedRows = filtersMergedRows;
    try {
      for (Field field : COPIED) {
        field.set(this, field.get(select));
      }
    } catch (IllegalAccessException e) {
      throw new AssertionError("made accessible below", e);
    }
  }

  private static ReadQuery asOf(ReadQuery query, Snapshot snapshot) {
    if (query.isEmpty()) {
      return query;
    }
    if (query instanceof SinglePartitionReadCommand.Group group) {
      List<SnapshotPartitionQuery> queries = new ArrayList<>(group.queries.size());
      for (SinglePartitionReadCommand command : group.queries) {
        queries.add(new SnapshotPartitionQuery(command, snapshot));
      }
      return new SnapshotPartitionsQuery(queries, group.limits());
    }
    if (query instanceof PartitionRangeReadCommand range) {
      return new SnapshotRangeQuery(range, snapshot);
    }
    throw new AssertionError("unknown kind of read: " + query.getClass());
  }

  private static Field field(String name) {
    try {
      Field field = SelectStatement.class.getDeclaredField(name);
      field.setAccessible(true);
      return field;
    } catch (NoSuchFieldException e) {
      throw new IllegalStateException("This is not the Cassandra that Isolde is made for.", e);
    }
  }

  @Override
  public ReadQuery getQuery(
      QueryOptions options,
      ClientState state,
      ColumnFilter columns,
      long nowInSec,
      DataLimits limits) {
    // Cassandra refuses some filters above ONE, where one replica's row may not be the whole row.
    QueryOptions filtering =
        filtersMergedRows
            ? QueryOptions.withConsistencyLevel(options, ConsistencyLevel.ONE)
            : options;
    return instead.apply(super.getQuery(filtering, state, columns, nowInSec, limits));
  }
}
