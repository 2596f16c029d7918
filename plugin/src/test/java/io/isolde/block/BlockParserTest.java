// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import org.apache.cassandra.exceptions.SyntaxException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BlockParserTest {
  private static final String LETS =
      "BEGIN TRANSACTION LET a = (SELECT * FROM t WHERE k = 1); LET b = (SELECT v FROM t WHERE k ="
          + " 2); ";

  private static ParsedBlock parsed(String items) {
    return BlockParser.parse(LETS + items + " COMMIT TRANSACTION");
  }

  private static Item first(String items) {
    return parsed(items).items().get(2);
  }

  private static StatementText write(String statement) {
    return ((Item.Write) first(statement + ";")).statement();
  }

  private static Condition condition(String text) {
    return ((Item.Choice) first("IF " + text + " THEN DELETE FROM t WHERE k = 1; END IF"))
        .condition();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "UPDATE t SET v = a.v WHERE k = 1 | UPDATE t SET v = ? WHERE k = 1 | a.v",
        "UPDATE t SET v = a.v + 1 WHERE k = 1 | UPDATE t SET v = ? WHERE k = 1 | (a.v + 1)",
        "UPDATE t SET v = a.v -1 WHERE k = 1 | UPDATE t SET v = ? WHERE k = 1 | (a.v + -1)",
        "UPDATE t SET v = 1 - a.v * 2 WHERE k = 1 | UPDATE t SET v = ? WHERE k = 1"
            + " | (1 - (a.v * 2))",
        "UPDATE t SET v = (1 - a.v) * 2 WHERE k = 1 | UPDATE t SET v = ? WHERE k = 1"
            + " | ((1 - a.v) * 2)",
        "UPDATE t SET v = 8 / 2 / a.v WHERE k = 1 | UPDATE t SET v = ? WHERE k = 1"
            + " | ((8 / 2) / a.v)",
        "UPDATE t SET v = v + a.v WHERE k = 1 | UPDATE t SET v = v + ? WHERE k = 1 | a.v",
        "UPDATE t SET v = v - (a.v + 1) WHERE k = 1 | UPDATE t SET v = v - ? WHERE k = 1"
            + " | (a.v + 1)",
        "INSERT INTO t (k, u) VALUES (1, {street: a.v, city: 'x'})"
            + " | INSERT INTO t (k, u) VALUES (1, {street: ?, city: 'x'}) | a.v",
        "INSERT INTO t (k, u) VALUES (1, {f: (a.v + 1) * 2, g: -a.v})"
            + " | INSERT INTO t (k, u) VALUES (1, {f: ?, g: ?}) | ((a.v + 1) * 2) -a.v",
        "INSERT INTO t (k, u) VALUES (1, (ks.place) ?)"
            + " | INSERT INTO t (k, u) VALUES (1, (ks.place) ?) | #0",
        "UPDATE t SET v = v - a.v * 2 WHERE k = 1 | UPDATE t SET v = v - ? WHERE k = 1 | (a.v * 2)",
        "UPDATE t SET v = v + a.v + 1 WHERE k = 1 | UPDATE t SET v = v + ? WHERE k = 1"
            + " | (a.v + 1)",
        "UPDATE t SET v += a.v WHERE k = 1 | UPDATE t SET v += ? WHERE k = 1 | a.v",
        "UPDATE t SET l = a.l + l WHERE k = 1 | UPDATE t SET l = ? + l WHERE k = 1 | a.l",
        "UPDATE a.t SET v = 1 WHERE k = a.k | UPDATE a.t SET v = 1 WHERE k = ? | a.k",
        "UPDATE t SET a.v = 1, b.v = a.v WHERE k = 1 | UPDATE t SET a.v = 1, b.v = ? WHERE k = 1"
            + " | a.v",
        "UPDATE t SET m[a.k] = a.v WHERE k = 1 | UPDATE t SET m[?] = ? WHERE k = 1 | a.k a.v",
        "UPDATE t SET v = a.m['x'] WHERE k = 1 | UPDATE t SET v = ? WHERE k = 1 | a.m['x']",
        "UPDATE t USING TTL a.v SET v = 1 WHERE k = 1"
            + " | UPDATE t USING TTL ? SET v = 1 WHERE k = 1 | a.v",
        "INSERT INTO a.t (k, v) VALUES (2, a.v) | INSERT INTO a.t (k, v) VALUES (2, ?) | a.v",
        "INSERT INTO t (k, v) VALUES (a.v, (a.v + b.v) / 2)"
            + " | INSERT INTO t (k, v) VALUES (?, ?) | a.v ((a.v + b.v) / 2)",
        "INSERT INTO t (k) VALUES (a.v) | INSERT INTO t (k) VALUES (?) | a.v",
        "INSERT INTO t (k, l, v) VALUES (1, [1, 2], -b.v)"
            + " | INSERT INTO t (k, l, v) VALUES (1, [1, 2], ?) | -b.v",
        "INSERT INTO t (k, tu) VALUES (1, (1, a.v))"
            + " | INSERT INTO t (k, tu) VALUES (1, (1, ?)) | a.v",
        "INSERT INTO t (k, m) VALUES (:k, {'x' : 1, :y : :z})"
            + " | INSERT INTO t (k, m) VALUES (:k, {'x' : 1, :y : :z}) | #0 #1 #2",
        "INSERT INTO t (k, v) VALUES (ks.f(a.v), system.now())"
            + " | INSERT INTO t (k, v) VALUES (ks.f(?), system.now()) | a.v",
        "DELETE a.v FROM t WHERE k IN (a.v, 3) | DELETE a.v FROM t WHERE k IN (?, 3) | a.v",
        "DELETE FROM a.t WHERE k IN (a.v) | DELETE FROM a.t WHERE k IN (?) | a.v",
        "DELETE FROM t WHERE k = ? AND c > a.v + ? | DELETE FROM t WHERE k = ? AND c > ?"
            + " | #0 (a.v + #1)",
        "DELETE FROM t WHERE k = 'a.v' AND c = $$a.v$$"
            + " | DELETE FROM t WHERE k = 'a.v' AND c = $$a.v$$ | ``",
        "DELETE FROM t WHERE k = A.V AND c = \"a\".\"V\""
            + " | DELETE FROM t WHERE k = ? AND c = ? | a.v a.V",
        "DELETE FROM t WHERE k = 1 + 2 | DELETE FROM t WHERE k = 1 + 2 | ``",
        "DELETE FROM t /* a.v */ WHERE k = a.v -- a.v | DELETE FROM t /* a.v */ WHERE k = ? | a.v",
      })
  void whatDependsOnRowsBecomesAMarker(String statement, String cql, String values) {
    StatementText text = write(statement.contains("--") ? statement + "\n" : statement);
    assertThat(text.cql()).isEqualTo(cql);
    String all = String.join(" ", text.values().stream().map(BlockParserTest::shown).toList());
    assertThat(all).isEqualTo(values);
  }

  private static String shown(Expression expression) {
    if (expression instanceof Expression.Arithmetic made) {
      return "(" + shown(made.left()) + " " + made.operator() + " " + shown(made.right()) + ")";
    } else if (expression instanceof Expression.Negative negative) {
      return "-" + shown(negative.of());
    } else if (expression instanceof Expression.Written written) {
      return written.number().toString();
    } else if (expression instanceof Expression.Marker marker) {
      return "#" + marker.number();
    } else if (expression instanceof Expression.Constant constant) {
      return constant.text();
    }
    Expression.Reference reference = (Expression.Reference) expression;
    StringBuilder shown = new StringBuilder(reference.row() + "." + reference.column());
    for (Expression.Part part : reference.path()) {
      shown.append(
          part instanceof Expression.Part.Field field
              ? "." + field.name()
              : "[" + shown(((Expression.Part.Element) part).key()) + "]");
    }
    return shown.toString();
  }

  private static String shown(Condition condition) {
    if (condition instanceof Condition.And and) {
      return "(" + shown(and.left()) + " AND " + shown(and.right()) + ")";
    } else if (condition instanceof Condition.Or or) {
      return "(" + shown(or.left()) + " OR " + shown(or.right()) + ")";
    } else if (condition instanceof Condition.Not not) {
      return "NOT " + shown(not.of());
    } else if (condition instanceof Condition.NoRow noRow) {
      return noRow.row() + " IS NULL";
    } else if (condition instanceof Condition.IsNull isNull) {
      return shown(isNull.of()) + " IS NULL";
    }
    Condition.Comparison made = (Condition.Comparison) condition;
    return shown(made.left()) + " " + made.relation() + " " + shown(made.right());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a IS NULL | a IS NULL",
        "a IS NOT NULL | NOT a IS NULL",
        "a.v IS NOT NULL AND b.v = 3 | (NOT a.v IS NULL AND b.v EQUAL 3)",
        "3 < a.v | 3 LESS a.v",
        "a.v >= b.v | a.v AT_LEAST b.v",
        "a.v = 1 OR a.v = 2 AND b.v != 3 | (a.v EQUAL 1 OR (a.v EQUAL 2 AND b.v UNEQUAL 3))",
        "(a.v = 1 OR a.v = 2) AND b.v <= 3 | ((a.v EQUAL 1 OR a.v EQUAL 2) AND b.v AT_MOST 3)",
        "(a.v + 1) * 2 > b.v | ((a.v + 1) * 2) GREATER b.v",
        "((a.v)) > 3 | a.v GREATER 3",
        "((a.v) > 3) | a.v GREATER 3",
        "NOT (a.v = 1) AND NOT a IS NULL | (NOT a.v EQUAL 1 AND NOT a IS NULL)",
        "a.u.street = 'x' | a.u.street EQUAL 'x'",
        "a.m[?] = :x | a.m[#0] EQUAL #1",
        "a.l = [1, ?, 3] | a.l EQUAL [1, ?, 3]",
        "a.t > toTimestamp(now()) | a.t GREATER toTimestamp(now())",
        "a.b = true | a.b EQUAL true",
        "a.v = -1 | a.v EQUAL -1",
        "a.d = -Infinity | a.d EQUAL -Infinity",
      })
  void conditionsAreReadByTheirPrecedence(String text, String shown) {
    assertThat(shown(condition(text))).isEqualTo(shown);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE t SET v = v * a.v WHERE k = 1;",
        "UPDATE t SET v = v - a.v + 1 WHERE k = 1;",
        "UPDATE t SET v = a.v - v WHERE k = 1;",
        "UPDATE t SET v = v - (a.v) + (1) WHERE k = 1;",
        "UPDATE t SET v = a.v * v WHERE k = 1;",
        "UPDATE t SET v = c.v WHERE k = 1;",
        "INSERT INTO t (k, l) VALUES (1, [a.v]);",
        "INSERT INTO t (k, m) VALUES (1, {'x': (1, a.v)});",
        "UPDATE t SET v = 1 WHERE k = 1",
        "BEGIN BATCH DELETE FROM t WHERE k = 1; APPLY BATCH;",
        "ROLLBACK TRANSACTION",
        "LET a = (SELECT * FROM t WHERE k = 3);",
        "LET c = (DELETE FROM t WHERE k = 3);",
        "LET c = SELECT * FROM t WHERE k = 3;",
        "SELECT a;",
        "SELECT a.v, c.v;",
        "IF a THEN DELETE FROM t WHERE k = 1; END IF",
        "IF a.v = 1 DELETE FROM t WHERE k = 1; END IF",
        "IF a.v = 1 THEN DELETE FROM t WHERE k = 1; END",
        "IF a.v = 1 THEN DELETE FROM t WHERE k = 1;",
        "IF 1 = 1 THEN DELETE FROM t WHERE k = 1; END IF",
        "IF a.v + f(1) = 1 THEN DELETE FROM t WHERE k = 1; END IF",
        "IF a.l = [a.v] THEN DELETE FROM t WHERE k = 1; END IF",
        "IF a.v IN (1) THEN DELETE FROM t WHERE k = 1; END IF",
        "IF a.v = 1e9999 THEN DELETE FROM t WHERE k = 1; END IF",
        "IF a.v = 1 THEN LET c = (SELECT * FROM t WHERE k = 1); END IF UPDATE t SET v = c.v WHERE k"
            + " = 1;",
        "DELETE FROM t WHERE k = 'open;",
        "",
      })
  void wrongTextsAreRefusedWithTheirPlace(String items) {
    assertThatThrownBy(() -> parsed(items))
        .isInstanceOf(SyntaxException.class)
        .satisfies(
            e -> assertThat(e.getMessage()).matches("(?s).*(BEGIN TRANSACTION|line \\d+:\\d+).*"));
  }

  @Test
  void deepNestingIsRefusedAndNotFollowed() {
    String open = "(".repeat(100_000);
    assertThatThrownBy(() -> parsed("UPDATE t SET v = " + open + "a.v WHERE k = 1;"))
        .isInstanceOf(SyntaxException.class);
    String not = "NOT ".repeat(100_000);
    assertThatThrownBy(() -> condition(not + "a IS NULL")).isInstanceOf(SyntaxException.class);
    String sum = "+ 1 ".repeat(100_000);
    assertThatThrownBy(() -> parsed("UPDATE t SET v = a.v " + sum + "WHERE k = 1;"))
        .isInstanceOf(SyntaxException.class);
    String ands = "AND a IS NULL ".repeat(100_000);
    assertThatThrownBy(() -> condition("a IS NULL " + ands)).isInstanceOf(SyntaxException.class);
    String ifs = "IF a IS NULL THEN ".repeat(100_000);
    assertThatThrownBy(() -> parsed(ifs)).isInstanceOf(SyntaxException.class);
  }

  @Test
  void theStatementThatBeginsOneOfSeveralRequestsIsNamed() {
    assertThatThrownBy(() -> BlockParser.parse("BEGIN TRANSACTION;"))
        .hasMessageContaining("START TRANSACTION");
  }

  @Test
  void aSelectOfReferencesNamesItsColumns() {
    Item.Values values = (Item.Values) first("SELECT a.v, b.v AS other;");
    assertThat(values.columns()).extracting(Item.Named::name).containsExactly("a.v", "other");
  }

  @Test
  void bothEndsAreTheSame() {
    String items = "DELETE FROM t WHERE k = ? AND c = :c; ";
    ParsedBlock committed = BlockParser.parse(LETS + items + "COMMIT TRANSACTION;");
    assertThat(BlockParser.parse(LETS + items + "apply transaction")).isEqualTo(committed);
    assertThat(BlockParser.parse(LETS + items + "COMMIT TRANSACTION -- batch"))
        .isEqualTo(committed);
    assertThat(committed.markers()).isEqualTo(Arrays.asList(null, "c"));
  }

  @Test
  void ifsHaveBranches() {
    Item.Choice choice =
        (Item.Choice)
            first(
                "IF a IS NULL THEN DELETE FROM t WHERE k = 1; IF b IS NULL THEN SELECT a.v; END IF;"
                    + " ELSE DELETE FROM t WHERE k = 2; DELETE FROM t WHERE k = 3; END IF");
    assertThat(choice.then()).hasSize(2);
    assertThat(choice.otherwise()).hasSize(2);
    assertThat(choice.then().get(1)).isInstanceOf(Item.Choice.class);
    assertThat(List.of(choice.then().get(1)))
        .allSatisfy(inner -> assertThat(((Item.Choice) inner).otherwise()).isEmpty());
  }
}
