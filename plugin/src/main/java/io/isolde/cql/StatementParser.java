// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.IsoldeException;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.group.MemberChange;
import io.isolde.version.ConflictUnit;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.cassandra.exceptions.SyntaxException;

/**
 * Recognises Isolde's statements. A statement whose first words are Isolde's must be right to its
 * end; every other text is left to Cassandra.
 */
final class StatementParser {
  /** Literals and names in quotes come first, so that nothing is found in those. */
  private static final Pattern COMMENT =
      Pattern.compile(
          "(?s)('[^']*+'|\"[^\"]*+\"|\\$\\$.*?\\$\\$)|/\\*.*?(?:\\*/|\\z)|(?:--|//)[^\n]*+");

  private static final Pattern START =
      Pattern.compile("(?i)\\s*START\\s+TRANSACTION\\b(?<options>[^;]*);?\\s*");
  private static final Pattern END =
      Pattern.compile("(?i)\\s*(?<how>COMMIT|ROLLBACK)(\\s+TRANSACTION)?\\s*;?\\s*");
  private static final Pattern SAVEPOINT =
      Pattern.compile(
          "(?i)\\s*(?<how>SAVEPOINT|RELEASE(?:\\s+SAVEPOINT)?"
              + "|ROLLBACK(?:\\s+TRANSACTION)?\\s+TO(?:\\s+SAVEPOINT)?)(?<name>\\s[^;]*)?;?\\s*");
  private static final Pattern SHOW =
      Pattern.compile("(?i)\\s*(?<how>SHOW|LIST|KILL)\\s+TRANSACTION\\b(?<id>[^;]*);?\\s*");
  private static final Pattern LIST =
      Pattern.compile("(?i)\\s*(SHOW|LIST)\\s+TRANSACTIONS\\s*;?\\s*");
  private static final Pattern SWITCH =
      Pattern.compile("(?i)\\s*(?<how>ENABLE|DISABLE)\\s+TRANSACTIONS\\b(?<on>[^;]*);?\\s*");

  private static final Pattern ALTER_ORACLE =
      Pattern.compile("(?i)\\s*ALTER\\s+ORACLE\\b(?<how>[^;]*);?\\s*");
  private static final Pattern ORACLE_CHANGE =
      Pattern.compile("(?i)\\s+(?<how>ADD|REMOVE|LEADER)\\s+'(?<address>[^']+)'\\s*");

  private static final Pattern ACCEPT_LOSS = Pattern.compile("(?i)\\s+ACCEPT\\s+LOSS\\s*");

  static final String NAME = "(?:[a-zA-Z]\\w*|\"(?:[^\"]|\"\")+\")";
  private static final Pattern SAVEPOINT_NAME = Pattern.compile(NAME);
  private static final Pattern ALTER_LEADER =
      Pattern.compile(
          "(?i)\\s*ALTER\\s+KEYSPACE\\s+(?<keyspace>"
              + NAME
              + ")\\s+LEADER\\b(?<address>[^;]*);?\\s*");
  private static final Pattern REBALANCE =
      Pattern.compile(
          "(?i)\\s*ALTER\\s+KEYSPACE\\s+(?<keyspace>"
              + NAME
              + ")\\s+REBALANCE\\b(?<without>[^;]*);?\\s*");
  private static final Pattern WITHOUT =
      Pattern.compile("(?i)\\s*(WITHOUT\\s+'[^']+'(\\s*,\\s*'[^']+')*)?\\s*");
  private static final Pattern QUOTED = Pattern.compile("'([^']+)'");

  private static final Pattern ADDRESS = Pattern.compile("\\s+'(?<address>[^']+)'\\s*");

  private static final Pattern UUID_TEXT =
      Pattern.compile("(?i)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

  private static final Pattern ON_TABLE =
      Pattern.compile(
          "(?i)\\s+ON\\s+(?:(?<keyspace>"
              + NAME
              + ")\\s*\\.\\s*)?(?<table>"
              + NAME
              + ")"
              + "(?:\\s+WITH\\s+conflicts\\s*=\\s*'(?<conflicts>[^']*)')?\\s*");
  private static final Pattern OPTION =
      Pattern.compile(
          "(?i)\\G\\s+(?:ISOLATION\\s+LEVEL\\s+(?<level>SNAPSHOT|SERIALIZABLE)"
              + "|(?<readonly>READ\\s+ONLY)"
              + "|AS\\s+OF\\s+SNAPSHOT\\s+(?<snapshot>"
              + NAME
              + ")|AS\\s+OF\\s+(?<asof>-?\\d{1,18}))(?=\\s|$)");

  private StatementParser() {}

  /**
   * Returns the statement if it is one of Isolde's.
   *
   * @throws SyntaxException if the text begins as one of Isolde's statements and goes on otherwise
   */
  static Optional<ControlStatement> parse(String text) {
    if (!mayBeOurs(text)) {
      return Optional.empty();
    }
    String bare = withoutComments(text);
    Matcher start = START.matcher(bare);
    if (start.matches()) {
      return Optional.of(start(start.group("options")));
    }
    Matcher end = END.matcher(bare);
    if (end.matches()) {
      boolean commit = end.group("how").equalsIgnoreCase("COMMIT");
      return Optional.of(commit ? new ControlStatement.Commit() : new ControlStatement.Rollback());
    }
    Matcher savepoint = SAVEPOINT.matcher(bare);
    if (savepoint.matches()) {
      return Optional.of(savepoint(savepoint.group("how"), savepoint.group("name")));
    }
    Matcher show = SHOW.matcher(bare);
    if (show.matches()) {
      return Optional.of(show(show.group("how"), show.group("id").strip()));
    }
    if (LIST.matcher(bare).matches()) {
      return Optional.of(new ControlStatement.ListOpen());
    }
    PeersWords.refuse(bare);
    Matcher change = SWITCH.matcher(bare);
    if (change.matches()) {
      return Optional.of(change(change.group("how"), change.group("on")));
    }
    Matcher alter = ALTER_ORACLE.matcher(bare);
    if (alter.matches()) {
      return Optional.of(alterOracle(alter.group("how")));
    }
    Matcher leader = ALTER_LEADER.matcher(bare);
    if (leader.matches()) {
      return Optional.of(alterLeader(name(leader.group("keyspace")), leader.group("address")));
    }
    Matcher rebalance = REBALANCE.matcher(bare);
    if (rebalance.matches()) {
      return Optional.of(rebalance(name(rebalance.group("keyspace")), rebalance.group("without")));
    }
    return SnapshotParser.parse(bare);
  }

  static String withoutComments(String text) {
    return COMMENT
        .matcher(text)
        .replaceAll(
            found -> found.group(1) == null ? " " : Matcher.quoteReplacement(found.group(1)));
  }

  /** Whether the first word may be a certain one. Cheap, as {@link #mayBeOurs}. */
  static boolean mayBegin(String text, String word) {
    int i = begin(text);
    return i < text.length()
        && (text.charAt(i) == '/' || text.charAt(i) == '-' || startsWith(text, i, word));
  }

  /** Behind the blanks and comments in front of a text. */
  static int beginBehindComments(String text) {
    int i = begin(text);
    while (i < text.length()) {
      int end;
      if (text.startsWith("--", i) || text.startsWith("//", i)) {
        end = text.indexOf('\n', i);
      } else if (text.startsWith("/*", i)) {
        end = text.indexOf("*/", i + 2) + 1;
      } else {
        return i;
      }
      if (end <= 0) {
        return text.length();
      }
      i = begin(text, end + 1);
    }
    return i;
  }

  private static int begin(String text) {
    return begin(text, 0);
  }

  private static int begin(String text, int from) {
    int i = from;
    while (i < text.length() && Character.isWhitespace(text.charAt(i))) {
      i++;
    }
    return i;
  }

  /** Cheap: every statement of every client passes here. */
  private static boolean mayBeOurs(String text) {
    int i = begin(text);
    if (i == text.length()) {
      return false;
    }
    return switch (text.charAt(i)) {
      case '/', '-' -> true;
      case 'B', 'b' -> text.length() - i <= PeersWords.MAX_BEGIN_CHARACTERS;
      case 'L', 'l' -> startsWith(text, i, "LIST") || startsWith(text, i, "LOCK");
      case 'K', 'k' -> startsWith(text, i, "KILL");
      case 'A', 'a', 'S', 's', 'C', 'c', 'R', 'r', 'E', 'e', 'D', 'd' ->
          startsWith(text, i, "START")
              || startsWith(text, i, "SET")
              || startsWith(text, i, "SHOW")
              || startsWith(text, i, "ALTER")
              || startsWith(text, i, "CREATE")
              || startsWith(text, i, "DROP")
              || startsWith(text, i, "COMMIT")
              || startsWith(text, i, "ROLLBACK")
              || startsWith(text, i, "RELEASE")
              || startsWith(text, i, "SAVEPOINT")
              || startsWith(text, i, "ENABLE")
              || startsWith(text, i, "DISABLE");
      default -> false;
    };
  }

  private static boolean startsWith(String text, int at, String word) {
    return text.regionMatches(true, at, word, 0, word.length());
  }

  private static ControlStatement start(String options) {
    IsolationLevel level = null;
    boolean readOnly = false;
    OptionalLong asOf = OptionalLong.empty();
    Optional<String> snapshot = Optional.empty();
    Matcher option = OPTION.matcher(options);
    int end = 0;
    while (option.find()) {
      end = option.end();
      boolean repeated;
      if (option.group("level") != null) {
        repeated = level != null;
        level = IsolationLevel.valueOf(option.group("level").toUpperCase(Locale.ROOT));
      } else if (option.group("readonly") != null) {
        repeated = readOnly;
        readOnly = true;
      } else if (option.group("snapshot") != null) {
        repeated = snapshot.isPresent() || asOf.isPresent();
        snapshot = Optional.of(name(option.group("snapshot")));
      } else {
        repeated = snapshot.isPresent() || asOf.isPresent();
        asOf = OptionalLong.of(Long.parseLong(option.group("asof")));
      }
      if (repeated) {
        throw IsoldeException.syntax(
            "START TRANSACTION: '" + option.group().strip() + "' comes twice");
      }
    }
    if (!options.substring(end).isBlank()) {
      throw IsoldeException.syntax(
          "START TRANSACTION: expected [ISOLATION LEVEL SNAPSHOT | SERIALIZABLE] [READ ONLY] [AS OF"
              + " microseconds | AS OF SNAPSHOT name], not '"
              + options.substring(end).strip()
              + "'");
    }
    return new ControlStatement.Start(
        level == null ? IsolationLevel.SERIALIZABLE : level,
        readOnly || snapshot.isPresent(),
        asOf,
        snapshot);
  }

  private static ControlStatement savepoint(String how, String written) {
    String name = written == null ? "" : written.strip();
    if (!SAVEPOINT_NAME.matcher(name).matches()) {
      // Refused when it is executed: what it should have taken back must not be committed.
      return new ControlStatement.Unparsable(
          IsoldeException.syntax(
              how.toUpperCase(Locale.ROOT)
                  + ": expected the name of a savepoint, not '"
                  + name
                  + "'"));
    }
    return new ControlStatement.Savepoint(
        switch (Character.toUpperCase(how.charAt(1))) {
          case 'A' -> ControlStatement.Savepoint.How.SET;
          case 'E' -> ControlStatement.Savepoint.How.RELEASE;
          default -> ControlStatement.Savepoint.How.ROLL_BACK_TO;
        },
        name(name));
  }

  private static ControlStatement show(String how, String id) {
    try {
      return how.equalsIgnoreCase("KILL")
          ? new ControlStatement.Kill(uuid(id))
          : new ControlStatement.Show(uuid(id));
    } catch (IllegalArgumentException e) {
      throw IsoldeException.syntax(
          how.toUpperCase(Locale.ROOT) + " TRANSACTION: expected the id of a transaction, a UUID");
    }
  }

  /** Of all 36 characters; the JDK takes fewer, and gives another id than was meant. */
  static UUID uuid(String text) {
    if (!UUID_TEXT.matcher(text).matches()) {
      throw new IllegalArgumentException("not a UUID");
    }
    return UUID.fromString(text);
  }

  private static ControlStatement change(String how, String on) {
    boolean isOn = how.equalsIgnoreCase("ENABLE");
    Matcher table = ON_TABLE.matcher(on);
    if (!table.matches() || (!isOn && table.group("conflicts") != null)) {
      throw IsoldeException.syntax(
          how.toUpperCase(Locale.ROOT)
              + " TRANSACTIONS: expected ON [keyspace.]table"
              + (isOn ? " [WITH conflicts = 'row' | 'cell']" : ""));
    }
    String keyspace = name(table.group("keyspace"));
    String name = name(table.group("table"));
    return isOn
        ? new ControlStatement.Enable(keyspace, name, conflicts(table.group("conflicts")))
        : new ControlStatement.Disable(keyspace, name);
  }

  private static Optional<ConflictUnit> conflicts(String value) {
    Optional<ConflictUnit> conflicts = ConflictUnit.parse(value);
    if (value != null && conflicts.isEmpty()) {
      throw IsoldeException.syntax(
          "ENABLE TRANSACTIONS: conflicts is 'row' or 'cell', not '" + value + "'");
    }
    return conflicts;
  }

  private static ControlStatement alterOracle(String how) {
    if (ACCEPT_LOSS.matcher(how).matches()) {
      return new ControlStatement.AcceptOracleLoss();
    }
    Matcher change = ORACLE_CHANGE.matcher(how);
    if (!change.matches()) {
      throw IsoldeException.syntax(
          "ALTER ORACLE: expected ADD, REMOVE or LEADER and 'address', or ACCEPT LOSS");
    }
    MemberChange.Kind kind =
        switch (change.group("how").toUpperCase(Locale.ROOT)) {
          case "ADD" -> MemberChange.Kind.ADD;
          case "REMOVE" -> MemberChange.Kind.REMOVE;
          default -> MemberChange.Kind.LEAD;
        };
    return new ControlStatement.AlterOracle(kind, change.group("address"));
  }

  private static ControlStatement alterLeader(String keyspace, String written) {
    Matcher address = ADDRESS.matcher(written);
    if (!address.matches()) {
      throw IsoldeException.syntax("ALTER KEYSPACE " + keyspace + " LEADER: expected 'address'");
    }
    return new ControlStatement.AlterLeader(keyspace, address.group("address"));
  }

  private static ControlStatement rebalance(String keyspace, String without) {
    if (!WITHOUT.matcher(without).matches()) {
      throw IsoldeException.syntax(
          "ALTER KEYSPACE " + keyspace + " REBALANCE: expected nothing or WITHOUT 'address', …");
    }
    List<String> addresses =
        QUOTED.matcher(without).results().map(result -> result.group(1)).toList();
    return new ControlStatement.Rebalance(keyspace, addresses);
  }

  static String name(String written) {
    if (written == null) {
      return null;
    }
    return written.startsWith("\"")
        ? written.substring(1, written.length() - 1).replace("\"\"", "\"")
        : written.toLowerCase(Locale.ROOT);
  }
}
