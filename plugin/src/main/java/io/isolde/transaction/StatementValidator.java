// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.filter.RowFilter;

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

  private static IsoldeException refused(
      ErrorCode code, String sentence, ModificationStatement statement) {
    return IsoldeException.of(code, sentence, "table", statement.metadata());
  }

  static void check(SelectStatement statement) {
    boolean onlyByIndex =
        statement.getRestrictions().usesSecondaryIndexing() && !statement.parameters.allowFiltering;
    if (onlyByIndex || statement.getRestrictions().isTopK()) {
      throw IsoldeException.of(
          ErrorCode.UNSUPPORTED_INDEX_QUERY,
          "Indexes know nothing of old values, so they can't answer as of a snapshot; ALLOW"
              + " FILTERING reads the rows themselves.",
          "table",
          statement.table);
    }
  }

  /** For expressions that name an index. */
  static void check(SelectStatement statement, RowFilter filter) {
    for (RowFilter.Expression expression : filter) {
      if (expression.isCustom()) {
        throw IsoldeException.of(
            ErrorCode.UNSUPPORTED_INDEX_QUERY,
            "expr() asks an index, which knows nothing of old values.",
            "table",
            statement.table);
      }
    }
  }
}
