// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.blocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Values and conditions of blocks. */
class BlockValuesTest extends BlocksOnTables {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "a.v = 10 | true",
        "a.v = 10.0 | true",
        "a.v != 10 | false",
        "10 < a.b | true",
        "a.v * 10 = a.b | true",
        "a.v / 3 = 3 AND a.v % 3 = 1 | true",
        "a.d * 2 = 3 | true",
        "a.n > a.d AND a.n < 2.6 | true",
        "a.d = 1.5 AND a.n = 2.50 | true",
        "a.w = 'x' | true",
        "a.w >= 'y' | false",
        "a.l = [7, 8] AND a.k = {3} | true",
        "a.l[1] = 8 AND a.m['a'] = 1 AND a.k[3] = 3 | true",
        "a.l[2] IS NULL AND a.m['b'] IS NULL AND a.k[4] IS NULL AND a.l[-1] IS NULL | true",
        "a.s = 5 | true",
        "x IS NULL AND x.v IS NULL | true",
        "x.v = 1 OR x.v != 1 OR NOT (a.v = 10) | false",
        "a.v = b.v OR a.v + 10 = b.v | true",
        "NOT (a.v > b.v) | true",
        "(a.v > b.v OR a.v < b.v) AND a.w = b.w | false",
        "a.w = 'x' AND b.w IS NULL | true",
        "t.total = 50 AND t.rows = 2 | true",
      })
  void conditionsAreOfWhatWasRead(String condition, boolean holds) {
    ResultSet answer =
        block(
            "LET a = (SELECT * FROM $t WHERE id = 1 AND c = 1);"
                + "LET b = (SELECT * FROM $t WHERE id = 2 LIMIT 1);"
                + "LET x = (SELECT * FROM $t WHERE id = 3 AND c = 1);"
                + "LET t = (SELECT sum(v) AS total, count(*) AS rows FROM $t WHERE id = 2);"
                + "IF "
                + condition
                + " THEN INSERT INTO $o (id, v) VALUES (1, 1); END IF");
    assertThat(answer.wasApplied()).isEqualTo(holds);
    assertThat(rows("SELECT id FROM $o WHERE id = 1")).hasSize(holds ? 1 : 0);
  }

  @Test
  void valuesComeFromRows() {
    block(
        "LET a = (SELECT * FROM $t WHERE id = 1 AND c = 1); LET p = (SELECT c, v FROM $t WHERE id ="
            + " a.c + 1 AND c = a.l[0] - 5);"
            + "INSERT INTO $t (id, c, v, b, d, n, w, l, m, k) VALUES (3, a.c, a.v, a.v, a.v, a.b,"
            + " a.w, a.l, a.m, a.k);"
            + "UPDATE $t SET l = a.l + l, m[a.w] = p.v, v = v - p.v * 2, b += a.v, s = -a.v WHERE id"
            + " = 3 AND c = a.c;"
            + "INSERT INTO $t (id, c, l) VALUES (4, a.m['a'], [1, 2]);"
            + "DELETE FROM $t WHERE id IN (a.c) AND c = p.c - 1;");
    assertThat(rows("SELECT v, b, d, n, w, l, m, k, s FROM $t WHERE id = 3"))
        .containsExactly("-50 20 10.0 100 x [7, 8, 7, 8] {a=1, x=30} [3] -10");
    assertThat(rows("SELECT c, l FROM $t WHERE id = 4")).containsExactly("1 [1, 2]");
    assertThat(rows("SELECT c FROM $t WHERE id = 1 AND c = 1")).isEmpty();
  }

  @Test
  void aBlockSeesWhatItHasWritten() {
    ResultSet answer =
        block(
            "UPDATE $t SET v = 11 WHERE id = 1 AND c = 1; LET a = (SELECT v FROM $t WHERE id = 1"
                + " AND c = 1); UPDATE $t SET v = a.v + 1 WHERE id = 1 AND c = 1; UPDATE $t SET v ="
                + " v + 1 WHERE id = 1 AND c = 1; SELECT v FROM $t WHERE id = 1; SELECT a.v AS v;");
    assertThat(Results.lines(answer)).containsExactly("13", "11");
  }

  @Test
  void nullGivesNull() {
    block(
        "LET b = (SELECT * FROM $t WHERE id = 2 AND c = 1); LET x = (SELECT * FROM $t WHERE id = 3"
            + " AND c = 1); INSERT INTO $t (id, c, v, b, w) VALUES (3, 1, x.v + 1, b.b * 2, x.w);");
    assertThat(rows("SELECT c, v, b, w FROM $t WHERE id = 3")).containsExactly("1 null null null");
  }

  /** As unprepared statements of drivers that guess types. */
  @Test
  void valuesOfWrongTypesAreRefused() {
    String block =
        "LET a = (SELECT * FROM $t WHERE id = 1 AND c = 1); IF a.v >= ? AND a.l[?] IS NOT NULL THEN"
            + " UPDATE $t SET v = a.v + ? WHERE id = 1 AND c = 1; END IF";
    for (Object wrong : List.of(5L, 5.0, (short) 5, "5")) {
      assertThatThrownBy(() -> block(block, wrong, 0, 1)).isInstanceOf(InvalidQueryException.class);
      assertThatThrownBy(() -> block(block, 5, wrong, 1)).isInstanceOf(InvalidQueryException.class);
      assertThatThrownBy(() -> block(block, 5, 0, wrong)).isInstanceOf(InvalidQueryException.class);
    }
    assertThat(rows("SELECT v FROM $t WHERE id = 1")).containsExactly("10");
    assertThat(block(block, 5, 0, 1).wasApplied()).isTrue();
    assertThat(block(block, null, 0, 1).wasApplied()).isFalse();
    assertThat(block(block, 5, null, 1).wasApplied()).isFalse();
  }

  @Test
  void aNumberOfAnotherTypeIsTheSameKey() {
    String big = NODE.table("id varint PRIMARY KEY, v int");
    for (String column : List.of("v", "b", "d", "n * 2")) {
      block(
          "LET a = (SELECT * FROM $t WHERE id = 1 AND c = 1); INSERT INTO %s (id, v) VALUES (a.%s *"
                  .formatted(big, column)
              + " 2 - 2, 1); INSERT INTO %s (id, v) VALUES (a.v, 2);".formatted(big));
    }
    assertThat(Results.lines(NODE.session().execute("SELECT id, v FROM " + big)))
        .containsExactlyInAnyOrder("18 1", "198 1", "1 1", "8 1", "10 2");
    assertThat(Results.lines(NODE.session().execute("SELECT v FROM " + big + " WHERE id = 10")))
        .containsExactly("2");
    assertThat(
            Results.lines(
                block(
                    "LET a = (SELECT * FROM $t WHERE id = 1 AND c = 1); SELECT v FROM %s WHERE id ="
                            .formatted(big)
                        + " a.v;")))
        .containsExactly("2");
  }

  @Test
  void aFieldThatWasAddedLaterIsNull() {
    String type = SystemNode.KEYSPACE + "." + SystemNode.freshName("place");
    NODE.session().execute("CREATE TYPE %s (street text)".formatted(type));
    String table = NODE.table("id int PRIMARY KEY, u %1$s, f frozen<%1$s>".formatted(type));
    NODE.session()
        .execute(
            "INSERT INTO %s (id, u, f) VALUES (1, {street: 'x'}, {street: 'y'})".formatted(table));
    NODE.session().execute("ALTER TYPE %s ADD city text".formatted(type));
    ResultSet answer =
        block(
            ("LET a = (SELECT * FROM %s WHERE id = 1); IF a.u.street = 'x' AND a.f.street = 'y' AND"
                    + " a.u.city IS NULL AND a.f.city IS NULL THEN UPDATE %1$s SET u = {street:"
                    + " a.f.street, city: 'z'} WHERE id = 1; END IF")
                .formatted(table));
    assertThat(answer.wasApplied()).isTrue();
    assertThat(Results.lines(NODE.session().execute("SELECT u.street, u.city FROM " + table)))
        .containsExactly("y z");
  }

  /** The snapshot that a node knows of stands still while nobody commits; time does not. */
  @Test
  void whatExpiresLivesFromNowOn() throws InterruptedException {
    block(
        "INSERT INTO $o (id, v) VALUES (1, 1) USING TTL 2; INSERT INTO $o (id, v) VALUES (2, 1);");
    assertThat(rows("SELECT id FROM $o WHERE id IN (1, 2)")).hasSize(2);
    Thread.sleep(4000);
    String move =
        "LET a = (SELECT v FROM $o WHERE id = 1); LET b = (SELECT v FROM $o WHERE id = 2);";
    assertThat(
            Results.lines(
                block(
                    move
                        + " SELECT a.v, b.v; IF a IS NULL THEN INSERT INTO $o (id, v) VALUES (3, 3)"
                        + " USING TTL 60; UPDATE $o USING TTL 3 SET v = 2 WHERE id = 2; END IF")))
        .containsExactly("null 1");
    assertThat(rows("SELECT v FROM $o WHERE id IN (2, 3)")).containsExactlyInAnyOrder("2", "3");
    assertThat(Results.lines(block("SELECT v FROM $o WHERE id IN (2, 3);")))
        .containsExactlyInAnyOrder("2", "3");
  }

  @Test
  void whatIsNotCarriedOutMayHaveNoKey() {
    String block =
        "LET a = (SELECT * FROM $t WHERE id = 1 AND c = 1); IF a IS NULL THEN INSERT INTO $o (id, v)"
            + " VALUES (?, ?); ELSE UPDATE $t SET v = 1 WHERE id = 1 AND c = 1; END IF";
    assertThat(block(block, null, null).wasApplied()).isFalse();
    assertThat(block(block, 5L, null).wasApplied()).isFalse();
    assertThat(rows("SELECT v FROM $t WHERE id = 1")).containsExactly("1");
  }
}
