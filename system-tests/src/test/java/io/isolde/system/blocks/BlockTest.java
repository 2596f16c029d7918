// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.blocks;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import com.datastax.oss.driver.api.core.servererrors.SyntaxError;
import io.isolde.client.ErrorCode;
import io.isolde.client.Transaction;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** BEGIN TRANSACTION … COMMIT TRANSACTION: what it answers, and what it refuses. */
class BlockTest extends BlocksOnTables {
  private static final int CLIENTS = 16;
  private static final int MAX_ATTEMPTS = 20;

  @Test
  void aTransferIsOneRequest() {
    String transfer =
        "LET a = (SELECT * FROM $t WHERE id = ? AND c = 1); LET b = (SELECT v FROM $t WHERE id = ?"
            + " AND c = 1); SELECT a.v, b.v; IF a.v >= ? AND b IS NOT NULL THEN UPDATE $t SET v = v"
            + " - ? WHERE id = ? AND c = 1; UPDATE $t SET v = b.v + ? WHERE id = ? AND c = 1; END"
            + " IF";
    assertThat(Results.lines(block(transfer, 1, 2, 4, 4, 1, 4, 2))).containsExactly("10 20");
    assertThat(rows("SELECT v FROM $t WHERE id = 1 AND c = 1")).containsExactly("6");
    assertThat(rows("SELECT v FROM $t WHERE id = 2 AND c = 1")).containsExactly("24");
    ResultSet tooMuch = block(transfer, 1, 2, 7, 7, 1, 7, 2);
    assertThat(applied(tooMuch)).isEqualTo("false");
    assertThat(rows("SELECT v FROM $t WHERE id = 1 AND c = 1")).containsExactly("6");
  }

  private static String applied(ResultSet answer) {
    return StandardCharsets.UTF_8
        .decode(answer.getExecutionInfo().getIncomingPayload().get("isolde-applied").duplicate())
        .toString();
  }

  @Test
  void withoutASelectTheResultTellsWhetherTheConditionHeld() {
    String block =
        "LET a = (SELECT v FROM $t WHERE id = 1 AND c = 1); IF a.v = ? THEN INSERT INTO $o (id, v)"
            + " VALUES (1, a.v); END IF";
    ResultSet held = block(block, 10);
    assertThat(held.wasApplied()).isTrue();
    assertThat(applied(held)).isEqualTo("true");
    assertThat(block(block, 11).wasApplied()).isFalse();
    assertThat(rows("SELECT * FROM $o WHERE id = 1")).containsExactly("1 10");
    assertThat(block("INSERT INTO $o (id, v) VALUES (2, 2);").getColumnDefinitions()).isEmpty();
  }

  @Test
  void elseIsTheOtherWay() {
    String block =
        "LET a = (SELECT v FROM $o WHERE id = 1); IF a IS NULL THEN INSERT INTO $o (id, v) VALUES"
            + " (1, 1); ELSE IF a.v < 3 THEN UPDATE $o SET v = a.v + 1 WHERE id = 1; ELSE DELETE"
            + " FROM $o WHERE id = 1; END IF END IF";
    List<String> seen = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      block(block);
      seen.add(String.join("", rows("SELECT v FROM $o WHERE id = 1")));
    }
    assertThat(seen).containsExactly("1", "2", "3", "", "1");
  }

  @Test
  void selectsReadAsAnyWhere() {
    ResultSet answer = block("SELECT id, c, v FROM $t WHERE id IN (1, 2) AND c > 0;");
    assertThat(Results.lines(answer)).containsExactlyInAnyOrder("1 1 10", "2 1 20", "2 2 30");
    ResultSet two =
        block(
            "SELECT v FROM $t WHERE id = 2 ORDER BY c DESC LIMIT 1; SELECT v FROM $t WHERE id = 1;");
    assertThat(Results.lines(two)).containsExactly("30", "10");
    ResultSet sorted = block("SELECT v FROM $t WHERE id IN (1, 2) ORDER BY c DESC;");
    assertThat(Results.lines(sorted)).hasSize(3).startsWith("30");
    assertThat(Results.lines(block("SELECT count(*) FROM $t WHERE id = 2;"))).containsExactly("2");
  }

  @Test
  void aResultHasAllRowsInOnePageUpToABound() {
    String table = NODE.table("id int, c int, PRIMARY KEY (id, c)");
    int bound = 10_000;
    for (int c = 0; c < bound; c += 1000) {
      StringBuilder batch = new StringBuilder("BEGIN UNLOGGED BATCH ");
      for (int i = c; i < c + 1000; i++) {
        batch.append("INSERT INTO %s (id, c) VALUES (1, %d); ".formatted(table, i));
      }
      NODE.session().execute(batch + "APPLY BATCH");
    }
    SimpleStatement all =
        SimpleStatement.newInstance(
                "BEGIN TRANSACTION SELECT c FROM %s; COMMIT TRANSACTION".formatted(table))
            .setPageSize(700);
    assertThat(Results.lines(NODE.session().execute(all.setPageSize(-1)))).hasSize(bound);
    ResultSet answer = NODE.session().execute(all);
    assertThat(answer.getAvailableWithoutFetching()).isEqualTo(bound);
    assertThat(Results.lines(answer).stream().distinct()).hasSize(bound);
    NODE.session().execute("INSERT INTO %s (id, c) VALUES (2, 1)".formatted(table));
    assertThatThrownBy(() -> NODE.session().execute(all))
        .hasMessageContaining("at most 10000 rows");
    String counted = "LET n = (SELECT count(*) AS n FROM %s); SELECT n.n;".formatted(table);
    assertThat(Results.lines(block(counted))).containsExactly("10001");
  }

  @Test
  void commentsMayStandAnywhere() {
    block(
        "-- first\n LET a = (SELECT * FROM $t /* t */ WHERE id = 1 AND c = 1 -- row\n); // x\n"
            + " UPDATE $t SET v = a.v + 1 WHERE id = 1 AND c = 1 -- last\n; /* end */");
    assertThat(rows("SELECT v FROM $t WHERE id = 1")).containsExactly("11");
  }

  @Test
  void anAnswerHasNoPayloadWhereItsProtocolHasNone() {
    try (CqlSession session =
        NODE.connect(
            config -> config.withString(DefaultDriverOption.PROTOCOL_VERSION, "V3"),
            builder -> builder)) {
      ResultSet answer =
          session.execute(
              cql(
                  "BEGIN TRANSACTION LET a = (SELECT v FROM $t WHERE id = 1 AND c = 1); SELECT a.v;"
                      + " IF a.v = 10 THEN UPDATE $t SET v = 11 WHERE id = 1 AND c = 1; END IF"
                      + " COMMIT TRANSACTION"));
      assertThat(Results.lines(answer)).containsExactly("10");
    }
    assertThat(rows("SELECT v FROM $t WHERE id = 1")).containsExactly("11");
  }

  @Test
  void markersMayHaveNames() {
    SimpleStatement block =
        SimpleStatement.newInstance(
            cql(
                "BEGIN TRANSACTION LET a = (SELECT * FROM $t WHERE id = :source AND c = 1); IF a.v"
                    + " >= :amount THEN UPDATE $t SET v = a.v - :amount WHERE id = :source AND c = 1;"
                    + " END IF COMMIT TRANSACTION"),
            Map.of("source", 1, "amount", 3));
    assertThat(NODE.session().execute(block).wasApplied()).isTrue();
    PreparedStatement prepared = NODE.session().prepare(block.getQuery());
    assertThat(
            NODE.session()
                .execute(
                    prepared
                        .boundStatementBuilder()
                        .setInt("source", 1)
                        .setInt("amount", 3)
                        .build())
                .wasApplied())
        .isTrue();
    assertThat(rows("SELECT v FROM $t WHERE id = 1 AND c = 1")).containsExactly("4");
  }

  @Test
  void preparedBlocksOutliveChangesOfTheirTables() {
    String table = NODE.table("id int PRIMARY KEY, v int");
    PreparedStatement prepared =
        NODE.session()
            .prepare(
                "BEGIN TRANSACTION LET a = (SELECT * FROM %s WHERE id = ?); SELECT a.v; UPDATE %s"
                        .formatted(table, table)
                    + " SET v = a.v + ? WHERE id = 1; COMMIT TRANSACTION");
    NODE.session().execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(table));
    assertThat(Results.lines(NODE.session().execute(prepared.bind(1, 2)))).containsExactly("1");
    NODE.session().execute("ALTER TABLE %s ADD w text".formatted(table));
    assertThat(Results.lines(NODE.session().execute(prepared.bind(1, 2)))).containsExactly("3");
    NODE.session().execute("DISABLE TRANSACTIONS ON " + table);
    assertRefused(ErrorCode.NOT_TRANSACTIONAL, () -> NODE.session().execute(prepared.bind(1, 2)));
    NODE.session().execute("ENABLE TRANSACTIONS ON " + table);
    assertThat(Results.lines(NODE.session().execute(prepared.bind(1, 2)))).containsExactly("5");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "LET a = (SELECT * FROM $t WHERE id = 2); SELECT a.v;",
        "LET a = (SELECT * FROM $t WHERE id = 1 AND c = 1); UPDATE $t SET v = a.v / 0 WHERE id = 1"
            + " AND c = 1;",
        "LET a = (SELECT * FROM $t WHERE id = 1 AND c = 1); UPDATE $t SET v = a.v * 1000000000"
            + " WHERE id = 1 AND c = 1;",
        "LET a = (SELECT * FROM $t WHERE id = 1 AND c = 1); UPDATE $t SET v = a.d WHERE id = 1 AND"
            + " c = 1;",
        "LET a = (SELECT * FROM $t WHERE id = 3 AND c = 1); UPDATE $t SET v = 1 WHERE id = a.v AND"
            + " c = 1;",
        "LET a = (SELECT v FROM $t WHERE id = 1 AND c = 1); SELECT a.w;",
        "LET a = (SELECT * FROM $t WHERE id = 1 AND c = 1); UPDATE $t SET v = a.w WHERE id = 1 AND"
            + " c = 1;",
        "LET a = (SELECT * FROM $t WHERE id = 1 AND c = 1); UPDATE $t SET w = a.v + 1 WHERE id = 1"
            + " AND c = 1;",
        "LET a = (SELECT * FROM $t WHERE id = 1 AND c = 1); IF a.w > 3 THEN DELETE FROM $t WHERE id"
            + " = 1; END IF",
        "UPDATE $t SET v = 1 WHERE id = 1 AND c = 1 IF v = 1;",
        "SELECT v FROM $t WHERE id = 1; SELECT w FROM $t WHERE id = 1;",
      })
  void whatCanNotBeIsRefusedAndChangesNothing(String items) {
    assertThatThrownBy(() -> block("UPDATE $t SET v = 99 WHERE id = 2 AND c = 1; " + items))
        .isInstanceOf(InvalidQueryException.class);
    assertThat(rows("SELECT c, v FROM $t WHERE id = 2")).containsExactly("1 20", "2 30");
    assertThat(rows("SELECT v FROM $t WHERE id = 1")).containsExactly("10");
  }

  @Test
  void wrongTextsAreSyntaxErrorsWithThePlace() {
    assertThatThrownBy(() -> block("UPDATE $t SET v = x.v WHERE id = 1 AND c = 1;"))
        .isInstanceOf(SyntaxError.class)
        .hasMessageContaining("no LET before it has the name x");
    assertThatThrownBy(() -> execute("BEGIN TRANSACTION"))
        .isInstanceOf(SyntaxError.class)
        .hasMessageContaining("START TRANSACTION");
    assertThatThrownBy(() -> NODE.session().prepare("BEGIN TRANSACTION COMMIT"))
        .isInstanceOf(SyntaxError.class);
  }

  @Test
  void everyTableIsTransactional() {
    String plain = SystemNode.KEYSPACE + "." + SystemNode.freshName("plain");
    NODE.session().execute("CREATE TABLE %s (id int PRIMARY KEY, v int)".formatted(plain));
    String read =
        "LET a = (SELECT * FROM %s WHERE id = 1); UPDATE $t SET v = 1 WHERE id = 1 AND c = 1;"
            .formatted(plain);
    assertRefused(ErrorCode.NOT_TRANSACTIONAL, () -> block(read));
    assertRefused(
        ErrorCode.NOT_TRANSACTIONAL,
        () -> block("INSERT INTO %s (id) VALUES (1);".formatted(plain)));
    assertRefused(
        ErrorCode.UNSUPPORTED_TIMESTAMP,
        () -> block("INSERT INTO $o (id) VALUES (1) USING TIMESTAMP 5;"));
  }

  @Test
  void aBlockIsNoPartOfAnotherTransaction() {
    Transaction tx = NODE.isolde().begin();
    tx.execute(cql("UPDATE $t SET v = 11 WHERE id = 1 AND c = 1"));
    assertRefused(
        ErrorCode.INVALID_REQUEST,
        () ->
            tx.execute(
                cql("BEGIN TRANSACTION INSERT INTO $o (id) VALUES (1); COMMIT TRANSACTION")));
    assertRefused(ErrorCode.TRANSACTION_ABORTED, tx::commit);
    assertThat(rows("SELECT v FROM $t WHERE id = 1")).containsExactly("10");
  }

  @ParameterizedTest
  @EnumSource(DefaultConsistencyLevel.class)
  void anyConsistencyLevelWillDo(DefaultConsistencyLevel level) {
    SimpleStatement block =
        SimpleStatement.newInstance(
                cql(
                    "BEGIN TRANSACTION LET a = (SELECT v FROM $t WHERE id = 1 AND c = 1); UPDATE $t"
                        + " SET v = a.v + 1 WHERE id = 1 AND c = 1; APPLY TRANSACTION;"))
            .setConsistencyLevel(level);
    NODE.session().execute(block);
    assertThat(rows("SELECT v FROM $t WHERE id = 1")).containsExactly("11");
  }

  @Test
  void aUniqueIndexHoldsInBlocks() {
    String table = NODE.table("id int PRIMARY KEY, email text");
    NODE.session().execute("CREATE UNIQUE INDEX ON %s (email)".formatted(table));
    String insert =
        "BEGIN TRANSACTION INSERT INTO %s (id, email) VALUES (?, ?); COMMIT TRANSACTION"
            .formatted(table);
    NODE.session().execute(SimpleStatement.newInstance(insert, 1, "a"));
    assertRefused(
        ErrorCode.UNIQUE_VIOLATION,
        () -> NODE.session().execute(SimpleStatement.newInstance(insert, 2, "a")));
    assertThat(Results.lines(NODE.session().execute("SELECT id FROM " + table)))
        .containsExactly("1");
  }

  /** On a slow machine, others may be faster for all the time that a block has. */
  private static void executeAgainAfterConflicts(CqlSession session, PreparedStatement block) {
    for (int attempt = 1; ; attempt++) {
      try {
        session.execute(block.bind());
        return;
      } catch (InvalidQueryException e) {
        assertThat(attempt).as("attempts").isLessThan(MAX_ATTEMPTS);
        assertThat(e).hasMessageContaining("code=" + ErrorCode.CONFLICT);
      }
    }
  }

  @Test
  void blocksOnOneRowAllTakeEffect() {
    execute("INSERT INTO $o (id, v) VALUES (1, 0)");
    execute("INSERT INTO $o (id, v) VALUES (2, 0)");
    CqlSession session = NODE.session();
    PreparedStatement block =
        session.prepare(
            cql(
                "BEGIN TRANSACTION LET a = (SELECT v FROM $o WHERE id = 1); LET b = (SELECT v FROM"
                    + " $o WHERE id = 2); UPDATE $o SET v = a.v + 1 WHERE id = 1; UPDATE $o SET v ="
                    + " b.v - 1 WHERE id = 2; COMMIT TRANSACTION"));
    int each = 20;
    List<CompletableFuture<Void>> clients = new ArrayList<>();
    for (int client = 0; client < CLIENTS; client++) {
      clients.add(
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < each; i++) {
                  executeAgainAfterConflicts(session, block);
                }
              }));
    }
    clients.forEach(CompletableFuture::join);
    assertThat(rows("SELECT v FROM $o WHERE id IN (1, 2)"))
        .containsExactlyInAnyOrder("" + CLIENTS * each, "" + -CLIENTS * each);
  }
}
