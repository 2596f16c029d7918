// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import java.util.regex.Pattern;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.statements.DescribeStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;

/**
 * Which statements take their transaction with them when they fail, for whatever reason. A
 * transaction is all or nothing: if a statement that was to change something was not carried out,
 * nothing of it can be committed. One that only asks can be repeated, as drivers do by themselves.
 */
final class FailedStatement {
  private static final Pattern SELECT =
      Pattern.compile(
          "(\\s|--[^\\n]*|//[^\\n]*|/\\*(?s:.*?)\\*/)*+select\\b.*",
          Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  private FailedStatement() {}

  static boolean endsTransaction(CQLStatement statement) {
    boolean onlyAsks =
        statement instanceof SelectStatement
            || statement instanceof DescribeStatement
            || statement instanceof ControlStatement.Watch
            || statement instanceof ControlStatement.Show
            || statement instanceof ControlStatement.ListOpen;
    // START begins another one or none; COMMIT and ROLLBACK have said how it ended, KILL is of
    // another.
    boolean isOfItself =
        statement instanceof ControlStatement.Start
            || statement instanceof ControlStatement.Commit
            || statement instanceof ControlStatement.Rollback
            || statement instanceof ControlStatement.Kill;
    return !onlyAsks && !isOfItself;
  }

  /** Of a text that can't be parsed. */
  static boolean endsTransaction(String cql) {
    return !SELECT.matcher(cql).matches();
  }
}
