// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.conditions;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.BatchableStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.ColumnDefinition;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.servererrors.QueryValidationException;
import io.isolde.client.Transaction;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;

/**
 * Statements with IF, one after the other: on a transactional table they answer and leave what
 * Cassandra's lightweight transactions on a plain table do. So they do inside of a transaction.
 */
class ConditionsEqualStockCassandraTest {
  private static final int RUNS = 8;
  private static final int REQUESTS = 100;

  private static final SystemNode NODE = SystemNode.shared();

  private final Map<String, Integer> seen = new TreeMap<>();

  @Test
  void whenStatementsHaveConditionsThenAnswersAndRowsAreThoseOfLightweightTransactions() {
    String type = type();
    String plain = NODE.plainTable(RandomConditions.COLUMNS.formatted(type));
    String ours = NODE.table(RandomConditions.COLUMNS.formatted(type));
    String inside = NODE.table(RandomConditions.COLUMNS.formatted(type));
    for (long seed : seeds()) {
      compare(seed, plain, ours, inside);
    }
    // Else the test would show nothing.
    assertThat(seen.get("applied")).isGreaterThan(RUNS);
    assertThat(seen.get("not applied")).isGreaterThan(RUNS);
  }

  private static String type() {
    String type = SystemNode.KEYSPACE + "." + SystemNode.freshName("u");
    NODE.session().execute("CREATE TYPE %s (a int, b text)".formatted(type));
    return type;
  }

  private void compare(long seed, String plain, String ours, String inside) {
    List.of(plain, ours, inside).forEach(table -> NODE.session().execute("TRUNCATE " + table));
    RandomConditions random = new RandomConditions(seed);
    boolean isPrepared = seed % 2 == 0;
    for (int i = 0; i < REQUESTS; i++) {
      RandomConditions.Request request = random.next();
      String what = "seed %d, request %d: %s".formatted(seed, i, request.statements());
      List<String> expected = answer(request.on(plain), isPrepared, NODE.session()::execute);
      List<String> rows = rows(plain);
      check(
          what,
          ours,
          expected,
          rows,
          answer(request.on(ours), isPrepared, NODE.session()::execute));
      what += " in a transaction";
      check(what, inside, expected, rows, inTransaction(request.on(inside), isPrepared));
      String kind =
          expected.contains("true") ? "applied" : expected.size() > 1 ? "not applied" : "other";
      seen.merge(kind, 1, Integer::sum);
    }
  }

  private static void check(
      String what, String table, List<String> expected, List<String> rows, List<String> answer) {
    assertThat(answer).as(what).isEqualTo(expected);
    assertThat(rows(table)).as(what).isEqualTo(rows);
  }

  private static List<String> inTransaction(Statement<?> statement, boolean isPrepared) {
    try (Transaction transaction = NODE.isolde().begin()) {
      List<String> answer = answer(statement, isPrepared, transaction::execute);
      if (!answer.get(0).contains("Exception")) {
        assertThat(transaction.commit().committed()).isTrue();
      }
      return answer;
    }
  }

  /** The names of the columns and the rows, or the error. */
  private static List<String> answer(
      Statement<?> statement, boolean isPrepared, Function<Statement<?>, ResultSet> execution) {
    try {
      ResultSet result =
          execution.apply(isPrepared ? prepared(NODE.session(), statement) : statement);
      List<String> lines = new ArrayList<>();
      lines.add(
          StreamSupport.stream(result.getColumnDefinitions().spliterator(), false)
              .map(ColumnDefinition::getName)
              .toList()
              .toString());
      lines.addAll(Results.lines(result));
      return lines;
    } catch (QueryValidationException e) {
      return List.of(e.getClass().getSimpleName() + ": " + e.getMessage());
    }
  }

  private static Statement<?> prepared(CqlSession session, Statement<?> statement) {
    if (statement instanceof SimpleStatement simple) {
      return session.prepare(simple).bind();
    }
    List<BatchableStatement<?>> all = new ArrayList<>();
    for (BatchableStatement<?> one : (BatchStatement) statement) {
      BoundStatement bound = session.prepare((SimpleStatement) one).bind();
      all.add(bound);
    }
    return BatchStatement.newInstance(BatchType.LOGGED, List.copyOf(all));
  }

  private static List<String> rows(String table) {
    return Results.lines(
        NODE.session().execute("SELECT p, c, s, v, w, m, k, l, f, u.a, u.b FROM " + table));
  }

  /** New ones each time; the only one if the system property {@code isolde.seed} names it. */
  private static long[] seeds() {
    String only = System.getProperty("isolde.seed");
    return only != null
        ? new long[] {Long.parseLong(only)}
        : ThreadLocalRandom.current().longs(RUNS).toArray();
  }
}
