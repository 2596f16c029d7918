// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.read.UniqueRead;
import java.util.Map;
import org.apache.cassandra.cql3.restrictions.StatementRestrictions;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.db.filter.RowFilter;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.index.Index;
import org.apache.cassandra.index.sasi.SASIIndex;
import org.apache.cassandra.schema.TableMetadata;

/** Refuses, at once and each with its own code, what a transactional table can't take. */
final class StatementValidator {
  private StatementValidator() {}

  static void check(ModificationStatement statement) {
    if (statement.isCounter()) {
      throw refused(ErrorCode.UNSUPPORTED_COUNTER, "Counters can't be transactional.", statement);
    }
    if (statement.isTimestampSet()) {
      throw refused(
          ErrorCode.UNSUPPORTED_TIMESTAMP,
          "USING TIMESTAMP is not for transactional tables: the commit gives the timestamp.",
          statement);
    }
  }

  private static boolean isByAnalyzer(TableMetadata table, RowFilter.Expression expression) {
    for (Index index : Keyspace.openAndGetStore(table).indexManager.listIndexes()) {
      if (index instanceof SASIIndex
          && isAnalyzed(index.getIndexMetadata().options)
          && index.supportsExpression(expression.column(), expression.operator())) {
        return true;
      }
    }
    return false;
  }

  private static boolean isAnalyzed(Map<String, String> options) {
    return options.containsKey("analyzer_class") || Boolean.parseBoolean(options.get("analyzed"));
  }

  private static IsoldeException refused(
      ErrorCode code, String sentence, ModificationStatement statement) {
    return IsoldeException.of(code, sentence, "table", statement.metadata());
  }

  static void check(SelectStatement statement) {
    if (statement.getRestrictions().isTopK()) {
      throw IsoldeException.of(
          ErrorCode.UNSUPPORTED_INDEX_QUERY,
          "ORDER BY ... ANN OF finds the nearest of what is there now, and not of a snapshot;"
              + " keep the vectors in a plain table.",
          "table",
          statement.table);
    }
  }

  /** For expressions that name an index, or need one that compares words and not texts. */
  static void check(SelectStatement statement, RowFilter filter) {
    for (RowFilter.Expression expression : filter) {
      if (isByAnalyzer(statement.table, expression)) {
        throw IsoldeException.of(
            ErrorCode.UNSUPPORTED_INDEX_QUERY,
            "A SASI index with an analyzer can't be asked as of a snapshot; use SAI, or a SASI"
                + " index without an analyzer.",
            "table",
            statement.table);
      }
      if (expression.isCustom()) {
        throw IsoldeException.of(
            ErrorCode.UNSUPPORTED_INDEX_QUERY,
            "expr() asks an index, which knows nothing of old values.",
            "table",
            statement.table);
      }
    }
    boolean isOfPartitions = !statement.getRestrictions().isKeyRange();
    if (!statement.parameters.allowFiltering
        && !UniqueRead.isIndexed(statement.table, isOfPartitions, filter)) {
      throw new InvalidRequestException(StatementRestrictions.REQUIRES_ALLOW_FILTERING_MESSAGE);
    }
  }
}
