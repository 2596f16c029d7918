// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.ColumnDefinitions;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What the text of a statement says of it.
 *
 * @param isRead whether it is a SELECT
 * @param isBlindWrite whether it writes whatever is stored, as far as one can tell
 * @param table as its keyspace, a dot and its name, if that is known
 */
record RequestText(boolean isRead, boolean isBlindWrite, Optional<String> table) {
  /** A condition, or perhaps a word in a text; then a write is taken for a conditional one. */
  private static final Pattern CONDITION = Pattern.compile("\\bIF\\b", Pattern.CASE_INSENSITIVE);

  private static final Pattern WRITE =
      Pattern.compile("\\s*(INSERT|UPDATE|DELETE)\\b", Pattern.CASE_INSENSITIVE);

  private static final Pattern READ = Pattern.compile("\\s*SELECT\\b", Pattern.CASE_INSENSITIVE);

  static RequestText of(Statement<?> statement) {
    if (statement instanceof BoundStatement bound) {
      ColumnDefinitions variables = bound.getPreparedStatement().getVariableDefinitions();
      return of(
          bound.getPreparedStatement().getQuery(),
          variables.size() == 0
              ? Optional.empty()
              : Optional.of(
                  variables.get(0).getKeyspace().asInternal()
                      + "."
                      + variables.get(0).getTable().asInternal()));
    }
    if (statement instanceof SimpleStatement simple) {
      return of(simple.getQuery(), Optional.empty());
    }
    if (statement instanceof BatchStatement batch) {
      boolean isBlind = true;
      for (Statement<?> one : batch) {
        isBlind &= of(one).isBlindWrite;
      }
      return new RequestText(false, isBlind, Optional.empty());
    }
    return new RequestText(false, false, Optional.empty());
  }

  private static RequestText of(String text, Optional<String> table) {
    return new RequestText(
        READ.matcher(text).lookingAt(),
        WRITE.matcher(text).lookingAt() && !CONDITION.matcher(text).find(),
        table);
  }
}
