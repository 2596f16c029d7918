// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.conditions;

import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Random statements of every form with {@code IF}, and some without, on few rows, so that
 * conditions hold about as often as not. {@code %s} stands for the table.
 */
final class RandomConditions {
  /** The columns of a table for them; {@code %1$s} stands for a type with fields a and b. */
  static final String COLUMNS =
      "p int, c int, s int static, v int, w text, m map<text, int>, k set<int>, l list<int>,"
          + " f frozen<list<int>>, u %1$s, PRIMARY KEY (p, c)";

  private static final int PARTITIONS = 2;
  private static final int ROWS = 3;
  private static final int VALUES = 3;
  private static final int ASSIGNMENTS = 15;
  private static final String[] OPERATORS = {"=", "!=", "<", "<=", ">", ">="};

  private final Random random;

  RandomConditions(long seed) {
    this.random = new Random(seed);
  }

  /** One request: a statement, a batch in one text, or a batch of the protocol. */
  Request next() {
    return switch (random.nextInt(5)) {
      case 0 -> textBatch();
      case 1 -> new Request(statements(key()), true);
      default ->
          new Request(List.of(random.nextInt(4) == 0 ? alone(key()) : conditional(key())), false);
    };
  }

  /**
   * A request for any table.
   *
   * @param isBatch whether the statements go as a batch of the protocol
   */
  record Request(List<String> statements, boolean isBatch) {
    Statement<?> on(String table) {
      if (!isBatch) {
        return SimpleStatement.newInstance(statements.get(0).replace("%s", table));
      }
      List<SimpleStatement> all = new ArrayList<>();
      for (String statement : statements) {
        all.add(SimpleStatement.newInstance(statement.replace("%s", table)));
      }
      return BatchStatement.newInstance(BatchType.LOGGED, List.copyOf(all));
    }
  }

  private Request textBatch() {
    String text = String.join("; ", statements(key()));
    return new Request(List.of("BEGIN BATCH " + text + "; APPLY BATCH"), false);
  }

  /** At least one has a condition; all are of one partition, as Cassandra asks for. */
  private List<String> statements(int key) {
    List<String> statements = new ArrayList<>();
    statements.add(conditional(key));
    for (int more = random.nextInt(3); more > 0; more--) {
      statements.add(random.nextBoolean() ? conditional(key) : plain(key));
    }
    return statements;
  }

  private int key() {
    return random.nextInt(PARTITIONS);
  }

  private int value() {
    return random.nextInt(VALUES);
  }

  private String where(int key) {
    return "p = %d AND c = %d".formatted(key, random.nextInt(ROWS));
  }

  /** In a batch Cassandra does not read the rows of lists without a condition. */
  private String alone(int key) {
    return random.nextInt(3) == 0 ? ofLists().replace("%w", " WHERE " + where(key)) : plain(key);
  }

  /** On elements, of which there may be too few. */
  private String ofLists() {
    return switch (random.nextInt(4)) {
      case 0 -> "DELETE l[" + value() + "] FROM %s%w";
      case 1 -> "DELETE l[0], l[0] FROM %s%w";
      default -> "UPDATE %s SET " + ofElements() + "%w";
    };
  }

  private String ofElements() {
    return switch (random.nextInt(5)) {
      case 0 -> "l = l - [" + value() + "]";
      case 1 -> "l = l + [" + value() + "], l[1] = " + value();
      case 2 -> "l = [" + value() + "] + l, l[1] = " + value();
      case 3 -> "l[0] = null";
      default -> "l[" + value() + "] = " + value();
    };
  }

  private String plain(int key) {
    return switch (random.nextInt(5)) {
      case 0 -> "DELETE FROM %s WHERE p = " + key;
      case 1 -> "DELETE FROM %s WHERE p = " + key + " AND c >= " + random.nextInt(ROWS);
      case 2 -> "UPDATE %s SET s = " + value() + " WHERE p = " + key;
      case 3 -> "DELETE " + removed() + " FROM %s WHERE " + where(key);
      default -> "UPDATE %s SET " + assignments(false) + " WHERE " + where(key);
    };
  }

  private String conditional(int key) {
    return switch (random.nextInt(10)) {
      case 0, 1 ->
          "INSERT INTO %s (p, c, v, w) VALUES ("
              + key
              + ", "
              + random.nextInt(ROWS)
              + ", "
              + value()
              + ", '"
              + value()
              + "') IF NOT EXISTS";
      case 2 -> "INSERT INTO %s (p, s) VALUES (" + key + ", " + value() + ") IF NOT EXISTS";
      case 3 -> "DELETE FROM %s WHERE " + where(key) + " IF " + conditions();
      case 4 -> "DELETE " + removed() + " FROM %s WHERE " + where(key) + " IF " + conditions();
      case 5 -> "UPDATE %s SET s = " + value() + " WHERE p = " + key + " IF " + ofStatic();
      case 6 -> "DELETE s FROM %s WHERE p = " + key + " IF " + ofStatic();
      case 7 -> ofLists().replace("%w", " WHERE " + where(key)) + " IF " + conditions();
      default ->
          "UPDATE %s SET " + assignments(true) + " WHERE " + where(key) + " IF " + conditions();
    };
  }

  private String removed() {
    return switch (random.nextInt(5)) {
      case 0 -> "v";
      case 1 -> "m['a']";
      case 2 -> "k, m";
      case 3 -> "u";
      default -> "l, w";
    };
  }

  /** Without conditions Cassandra adds to no number. */
  private String assignments(boolean isConditional) {
    List<String> some = new ArrayList<>();
    for (int i = 1 + random.nextInt(2); i > 0; i--) {
      String one = assignment(isConditional ? ASSIGNMENTS : ASSIGNMENTS - 2);
      String column = one.substring(0, 1);
      if (some.stream().noneMatch(other -> other.startsWith(column))) {
        some.add(one);
      }
    }
    return String.join(", ", some);
  }

  private String assignment(int kinds) {
    return switch (random.nextInt(kinds)) {
      case 0, 1, 2 -> "v = " + value();
      case 3 -> "v = null";
      case 4 -> "w = '" + value() + "'";
      case 5 -> "m['a'] = " + value();
      case 6 -> "m = m + {'b': " + value() + "}";
      case 7 -> "m = {'a': " + value() + ", 'c': 1}";
      case 8 -> "k = k + {" + value() + "}";
      case 9 -> "l = l + [" + value() + "]";
      case 10 -> "l = [" + value() + "] + l";
      case 11 -> "f = [" + value() + ", 1]";
      case 12 -> random.nextBoolean() ? "u.a = " + value() : "u = {a: 1, b: 'x'}";
      case 13 -> "v = v + " + value();
      default -> "w += '" + value() + "'";
    };
  }

  private String conditions() {
    if (random.nextInt(4) == 0) {
      return "EXISTS";
    }
    String first = condition();
    return random.nextInt(4) == 0 ? first + " AND " + condition() : first;
  }

  private String operator() {
    return OPERATORS[random.nextInt(OPERATORS.length)];
  }

  private String ofStatic() {
    return switch (random.nextInt(4)) {
      case 0 -> "EXISTS";
      case 1 -> "s = null";
      case 2 -> "s IN (" + value() + ", " + value() + ")";
      default -> "s " + operator() + " " + value();
    };
  }

  private String condition() {
    return switch (random.nextInt(17)) {
      case 0, 1 -> "v " + operator() + " " + value();
      case 2 -> "v = null";
      case 3 -> "v IN (" + value() + ", null)";
      case 4 -> "w " + operator() + " '" + value() + "'";
      case 5 -> "m['a'] " + operator() + " " + value();
      case 6 -> "m['b'] IN (" + value() + ", " + value() + ")";
      case 7 -> "m " + operator() + " {'a': " + value() + "}";
      case 8 -> "m = null";
      case 9 -> "k " + operator() + " {" + value() + "}";
      case 10 -> "l " + operator() + " [" + value() + "]";
      case 11 -> "l[0] " + operator() + " " + value();
      case 12 -> "l[1] = null";
      case 13 -> "f = [" + value() + ", 1]";
      case 14 -> "u.a " + operator() + " " + value();
      case 15 -> "u = {a: 1, b: 'x'}";
      default -> ofStatic().replace("EXISTS", "s != 1");
    };
  }
}
