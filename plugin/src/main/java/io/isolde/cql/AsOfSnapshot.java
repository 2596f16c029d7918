// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import static io.isolde.cql.StatementParser.NAME;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.snapshot.SnapshotTag;
import io.isolde.snapshot.read.SnapshotTransactions;
import io.isolde.snapshot.table.SnapshotCatalog;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.cassandra.cql3.ColumnIdentifier;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;

/**
 * {@code SELECT … FROM k.t AS OF SNAPSHOT s}: becomes a SELECT from the snapshot's table before
 * Cassandra parses it, so that every kind of SELECT works, prepared or not.
 */
final class AsOfSnapshot {
  private static final String WORD = "SNAPSHOT";

  private static final String GAP = "(?:\\s|/\\*.*?\\*/|(?:--|//)[^\n]*+\n)++";

  /** Literals, names in quotes and comments come first, so that nothing is found in those. */
  private static final Pattern CLAUSE =
      Pattern.compile(
          "(?is)'[^']*+'|\\$\\$.*?\\$\\$|--[^\n]*+|//[^\n]*+|/\\*.*?\\*/"
              + "|\\bFROM"
              + GAP
              + "(?:(?<keyspace>"
              + NAME
              + ")\\s*\\.\\s*)?(?<table>"
              + NAME
              + ")"
              + String.join(GAP, "", "AS", "OF", WORD, "(?<snapshot>\\w+)")
              + "|\"[^\"]*+\"");

  private AsOfSnapshot() {}

  /**
   * Returns the statement that Cassandra is to parse.
   *
   * @throws IsoldeException SNAPSHOT_NOT_FOUND
   */
  static String rewrite(String text, ClientState client) {
    if (!mentionsSnapshots(text)) {
      return text;
    }
    StringBuilder rewritten = new StringBuilder(text.length());
    Matcher clause = CLAUSE.matcher(text);
    while (clause.find()) {
      String replacement = clause.group("table") == null ? clause.group() : from(clause, client);
      clause.appendReplacement(rewritten, Matcher.quoteReplacement(replacement));
    }
    return clause.appendTail(rewritten).toString();
  }

  /** Cheap: every statement of every client passes here. */
  private static boolean mentionsSnapshots(String text) {
    for (int i = text.length() - WORD.length(); i >= 0; i--) {
      if ((text.charAt(i) | 0x20) == 's' && text.regionMatches(true, i, WORD, 0, WORD.length())) {
        return true;
      }
    }
    return false;
  }

  private static String from(Matcher clause, ClientState client) {
    String keyspace = StatementParser.name(clause.group("keyspace"));
    String table = StatementParser.name(clause.group("table"));
    String snapshot = SnapshotParser.snapshotName(clause.group("snapshot"));
    String name = SnapshotTag.tableName(table, snapshot);
    String in = keyspace == null ? client.getRawKeyspace() : keyspace;
    if (in != null) {
      check(in, name, table, snapshot);
    }
    return "FROM "
        + (keyspace == null ? "" : ColumnIdentifier.maybeQuote(keyspace) + ".")
        + ColumnIdentifier.maybeQuote(name);
  }

  /** Cassandra would say that there is no such table; that helps nobody. */
  private static void check(String keyspace, String name, String table, String snapshot) {
    TableMetadata found = Schema.instance.getTableMetadata(keyspace, name);
    if (found != null && SnapshotTag.of(found).isPresent()) {
      return;
    }
    Optional<SnapshotCatalog.Snapshot> existing = SnapshotCatalog.find(snapshot);
    if (existing.isEmpty()) {
      throw SnapshotTransactions.notFound(snapshot);
    }
    throw IsoldeException.of(
        ErrorCode.SNAPSHOT_NOT_FOUND,
        "The snapshot " + snapshot + " has no table " + keyspace + "." + table + ".",
        "snapshot",
        snapshot,
        "table",
        keyspace + "." + table);
  }
}
