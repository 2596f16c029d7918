// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.schema.IndexMetadata;
import org.apache.cassandra.schema.TableMetadata;

/**
 * Carries a timestamp to the replicas, and selects every row that the rest of it selects.
 *
 * <p>Cassandra takes the expression's made-up column for a regular one, and so the read for one
 * that filters rows by value. Then it does not count a partition that has nothing but static
 * columns. The pager of the query that the client sent does count it, and takes a full page for
 * half of one. This filter says how it is. Replicas get the expressions alone, and count in {@link
 * AsOfSearcher}.
 */
final class AsOfRowFilter extends RowFilter {
  private final RowFilter rest;

  AsOfRowFilter(TableMetadata table, IndexMetadata index, long timestamp, RowFilter rest) {
    super(and(new CustomExpression(table, index, value(timestamp)), rest), false);
    this.rest = rest;
  }

  private static List<Expression> and(Expression asOf, RowFilter rest) {
    List<Expression> all = new ArrayList<>(rest.getExpressions());
    all.add(asOf);
    return all;
  }

  private static ByteBuffer value(long timestamp) {
    return LongType.instance.decompose(timestamp);
  }

  @Override
  public boolean hasExpressionOnClusteringOrRegularColumns() {
    return rest.hasExpressionOnClusteringOrRegularColumns();
  }
}
