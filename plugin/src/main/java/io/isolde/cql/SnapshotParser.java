// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import static io.isolde.cql.StatementParser.NAME;

import io.isolde.error.IsoldeException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.cassandra.config.DurationSpec;

/** Recognises CREATE SNAPSHOT and DROP SNAPSHOT. */
final class SnapshotParser {
  private static final Pattern CREATE =
      Pattern.compile("(?is)\\s*CREATE\\s+SNAPSHOT\\b(?<rest>[^;]*);?\\s*");
  private static final Pattern DROP =
      Pattern.compile("(?is)\\s*DROP\\s+SNAPSHOT\\b(?<rest>[^;]*);?\\s*");

  private static final String TABLE = NAME + "(?:\\s*\\.\\s*" + NAME + ")?";
  private static final Pattern CREATION =
      Pattern.compile(
          "(?is)(?<ifnot>\\s+IF\\s+NOT\\s+EXISTS)?\\s+(?<name>\\w+)\\s+ON\\s+"
              + "(?:KEYSPACE\\s+(?<keyspace>"
              + NAME
              + ")|(?<tables>"
              + TABLE
              + "(?:\\s*,\\s*"
              + TABLE
              + ")*))(?:\\s+WITH\\b(?<options>.*))?\\s*");
  private static final Pattern DROPPING =
      Pattern.compile("(?is)(?<ifthere>\\s+IF\\s+EXISTS)?\\s+(?<name>\\w+)\\s*");
  private static final Pattern ONE_TABLE =
      Pattern.compile("(?is)(?:(?<keyspace>" + NAME + ")\\s*\\.\\s*)?(?<table>" + NAME + ")");
  private static final Pattern OPTION =
      Pattern.compile(
          "(?is)\\s*(?:ttl\\s*=\\s*'(?<ttl>[^']*)'|gate\\s*=\\s*(?<gate>true|false))\\s*");

  /** It becomes a part of names of tables and, with those, of files. */
  private static final Pattern SNAPSHOT_NAME = Pattern.compile("[a-z][a-z0-9_]{0,47}");

  private SnapshotParser() {}

  /** Returns the statement, if it is one of the two. The text is without comments. */
  static Optional<ControlStatement> parse(String text) {
    Matcher create = CREATE.matcher(text);
    if (create.matches()) {
      return Optional.of(create(create.group("rest")));
    }
    Matcher drop = DROP.matcher(text);
    return drop.matches() ? Optional.of(drop(drop.group("rest"))) : Optional.empty();
  }

  private static ControlStatement create(String rest) {
    Matcher creation = CREATION.matcher(rest);
    if (!creation.matches()) {
      throw IsoldeException.syntax(
          "CREATE SNAPSHOT: expected [IF NOT EXISTS] name ON KEYSPACE keyspace, or name ON"
              + " [keyspace.]table [, …], and then [WITH ttl = '7d' [AND gate = true]]");
    }
    long ttlMillis = 0;
    boolean isGated = false;
    if (creation.group("options") != null) {
      for (String text : creation.group("options").split("(?i)\\bAND\\b", -1)) {
        Matcher option = OPTION.matcher(text);
        if (!option.matches()) {
          throw IsoldeException.syntax(
              "CREATE SNAPSHOT: expected ttl = '7d' or gate = true, not '" + text.strip() + "'");
        }
        if (option.group("ttl") != null) {
          ttlMillis = duration(option.group("ttl"));
        } else {
          isGated = Boolean.parseBoolean(option.group("gate").toLowerCase(Locale.ROOT));
        }
      }
    }
    return new ControlStatement.CreateSnapshot(
        snapshotName(creation.group("name")),
        creation.group("ifnot") != null,
        StatementParser.name(creation.group("keyspace")),
        tables(creation.group("tables")),
        ttlMillis,
        isGated);
  }

  private static long duration(String text) {
    try {
      long millis = new DurationSpec.LongMillisecondsBound(text).toMilliseconds();
      if (millis > 0) {
        return millis;
      }
    } catch (RuntimeException e) {
      // said below
    }
    throw IsoldeException.syntax(
        "CREATE SNAPSHOT: ttl must be a duration like '7d', '12h' or '30m', not '" + text + "'");
  }

  private static List<ControlStatement.QualifiedTable> tables(String text) {
    List<ControlStatement.QualifiedTable> tables = new ArrayList<>();
    if (text != null) {
      Matcher table = ONE_TABLE.matcher(text);
      while (table.find()) {
        tables.add(
            new ControlStatement.QualifiedTable(
                StatementParser.name(table.group("keyspace")),
                StatementParser.name(table.group("table"))));
      }
    }
    return tables;
  }

  private static ControlStatement drop(String rest) {
    Matcher dropping = DROPPING.matcher(rest);
    if (!dropping.matches()) {
      throw IsoldeException.syntax("DROP SNAPSHOT: expected [IF EXISTS] name");
    }
    return new ControlStatement.DropSnapshot(
        snapshotName(dropping.group("name")), dropping.group("ifthere") != null);
  }

  /** The name of a snapshot as a statement writes it. */
  static String snapshotName(String written) {
    String name = written.toLowerCase(Locale.ROOT);
    if (!SNAPSHOT_NAME.matcher(name).matches()) {
      throw IsoldeException.syntax(
          "The name of a snapshot is a letter and then letters, digits and underscores, up to 48 in"
              + " all; not '"
              + written
              + "'");
    }
    return name;
  }
}
