// SPDX-License-Identifier: Apache-2.0
package io.isolde.read;

import io.isolde.unique.UniqueIndex;
import io.isolde.version.LossyIndex;
import java.util.Optional;
import java.util.function.Predicate;
import org.apache.cassandra.cql3.Operator;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.index.Index;
import org.apache.cassandra.schema.TableMetadata;

/**
 * Chooses one expression by which replicas look for rows. It is one only, because the newest values
 * of two columns may be on two replicas: neither would find a row by both.
 */
final class IndexedExpression {
  private IndexedExpression() {}

  /** Returns a filter of that expression; empty if no index knows any of the command's filter. */
  static Optional<RowFilter> of(ReadCommand command) {
    if (command.indexQueryPlan() == null || command.isReversed()) {
      return Optional.empty();
    }
    RowFilter.Expression best = null;
    for (RowFilter.Expression expression : command.rowFilter()) {
      if (isKnown(command.metadata(), expression, index -> !LossyIndex.is(index))
          && (best == null || (isExact(expression) && !isExact(best)))) {
        best = expression;
      }
    }
    return best == null ? Optional.empty() : Optional.of(only(best, command.rowFilter()));
  }

  /** Whether the user has an index for an expression. */
  static boolean isKnown(TableMetadata table, RowFilter.Expression expression) {
    return isKnown(table, expression, any -> true);
  }

  private static boolean isKnown(
      TableMetadata table, RowFilter.Expression expression, Predicate<Index> isUsed) {
    for (Index index : Keyspace.openAndGetStore(table).indexManager.listIndexes()) {
      if (!(index instanceof UniqueIndex)
          && isUsed.test(index)
          && index.supportsExpression(expression.column(), expression.operator())) {
        return true;
      }
    }
    return false;
  }

  /** Ranges may be long. */
  private static boolean isExact(RowFilter.Expression expression) {
    Operator operator = expression.operator();
    return operator == Operator.EQ
        || operator == Operator.CONTAINS
        || operator == Operator.CONTAINS_KEY;
  }

  private static RowFilter only(RowFilter.Expression chosen, RowFilter all) {
    RowFilter only = all;
    for (RowFilter.Expression expression : all) {
      if (!expression.equals(chosen) && only.getExpressions().contains(expression)) {
        only = only.without(expression);
      }
    }
    return only;
  }
}
