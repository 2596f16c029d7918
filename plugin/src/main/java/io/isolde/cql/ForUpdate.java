// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.lock.LockTable;
import io.isolde.read.LockingSelect;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.cassandra.auth.Permission;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.service.ClientState;

/** {@code SELECT … FOR UPDATE [NOWAIT | SKIP LOCKED]}: what Cassandra's grammar does not have. */
final class ForUpdate {
  /** A longer SELECT names more rows than may be locked. */
  private static final int MAX_CHARACTERS = 1 << 17;

  private static final String SELECT = "SELECT";

  /** The clause is no longer, with blanks and all. */
  private static final int MAX_CLAUSE = 256;

  /** Of the end of a text. In a literal, a quote would follow. */
  private static final Pattern END =
      Pattern.compile(
          "(?is)(?<!\\w)FOR\\s+(?:(?:NO\\s+)?KEY\\s+)?(?<how>UPDATE|SHARE)\\b(?<rest>[\\w\\s.,]*);?\\z");

  private static final Pattern WAIT = Pattern.compile("\\s*");
  private static final Pattern NOWAIT = Pattern.compile("(?i)\\s+NOWAIT\\s*");
  private static final Pattern SKIP = Pattern.compile("(?i)\\s+SKIP\\s+LOCKED\\s*");

  private ForUpdate() {}

  /** Whether a text is such a statement. Cheap for almost all others. */
  static boolean isMeant(String text) {
    return text.length() <= MAX_CHARACTERS
        && StatementParser.mayBegin(text, SELECT)
        && containsFor(text)
        && isSelect(text)
        && Parts.of(text) != null;
  }

  private static boolean isSelect(String text) {
    int begin = StatementParser.beginBehindComments(text);
    return text.regionMatches(true, begin, SELECT, 0, SELECT.length());
  }

  /** Whether the word is anywhere, behind a blank. */
  private static boolean containsFor(String text) {
    for (int i = text.length() - 4; i > 0; i--) {
      char first = text.charAt(i);
      if ((first == 'F' || first == 'f')
          && text.regionMatches(true, i, "FOR", 0, 3)
          && !Character.isLetterOrDigit(text.charAt(i - 1))) {
        return true;
      }
    }
    return false;
  }

  /** A SELECT, and the clause behind it. */
  private record Parts(String select, String clause, String how, String rest) {
    /** Returns null if there is no such clause. */
    private static Parts of(String text) {
      String bare = StatementParser.withoutComments(text).strip();
      int from = Math.max(0, bare.length() - MAX_CLAUSE);
      Matcher end = END.matcher(bare.substring(from));
      return end.find()
          ? new Parts(
              bare.substring(0, from + end.start()),
              end.group(),
              end.group("how"),
              end.group("rest"))
          : null;
    }

    private SelectStatement.RawStatement parse() {
      return (SelectStatement.RawStatement) QueryProcessor.parseStatement(select);
    }
  }

  /** Whether the text names the keyspace, so that USE does not matter. */
  static boolean isFullyQualified(String text) {
    return Parts.of(text).parse().isFullyQualified();
  }

  /** Prepares the text. */
  static LockingSelect prepare(String text, ClientState client) {
    Parts parts = Parts.of(text);
    SelectStatement.RawStatement raw = parts.parse();
    LockTable.Mode mode = mode(parts.clause.strip(), parts.how, parts.rest);
    raw.setKeyspace(client);
    SelectStatement select = raw.prepare(client);
    if (select.parameters.isDistinct
        || !select.parameters.groups.isEmpty()
        || select.getSelection().isAggregate()) {
      throw IsoldeException.invalid(
          "FOR UPDATE locks the rows that it returns, so it goes without DISTINCT, GROUP BY and"
              + " aggregates.");
    }
    return new LockingSelect(select, mode);
  }

  private static LockTable.Mode mode(String clause, String how, String rest) {
    if (how.equalsIgnoreCase("UPDATE")) {
      if (WAIT.matcher(rest).matches()) {
        return LockTable.Mode.WAIT;
      }
      if (NOWAIT.matcher(rest).matches()) {
        return LockTable.Mode.NOWAIT;
      }
      if (SKIP.matcher(rest).matches()) {
        return LockTable.Mode.SKIP;
      }
    }
    throw IsoldeException.syntax(
        "'"
            + clause
            + "': expected FOR UPDATE [NOWAIT | SKIP LOCKED]. What a SERIALIZABLE transaction reads"
            + " needs no FOR SHARE.");
  }

  /** Its locks end with a transaction. */
  static void requireTransaction(Optional<UUID> transaction) {
    if (transaction.isEmpty()) {
      throw IsoldeException.of(
          ErrorCode.NO_TRANSACTION,
          "FOR UPDATE locks rows until a transaction ends; START TRANSACTION begins one.");
    }
  }

  /** Who locks rows holds up those who write them. */
  static void authorize(LockingSelect select, ClientState client) {
    client.ensureTablePermission(select.table, Permission.MODIFY);
  }
}
