// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.mode;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.SystemNode;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A type gets fields and other names of fields while transactions use it: they see its values. */
class ChangedTypesTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final CqlSession SESSION = NODE.session();
  private static final AtomicInteger NUMBER = new AtomicInteger();

  /** Frozen, not frozen, in a collection. */
  private final String type = SystemNode.KEYSPACE + ".changed_type" + NUMBER.incrementAndGet();

  private final String table = table();

  private String table() {
    SESSION.execute("CREATE TYPE %s (a int, b int)".formatted(type));
    return NODE.table(
        "id int PRIMARY KEY, f frozen<%1$s>, p %1$s, l list<frozen<%1$s>>".formatted(type));
  }

  private void change() {
    SESSION.execute("ALTER TYPE %s ADD c int".formatted(type));
    SESSION.execute("ALTER TYPE %s RENAME a TO x".formatted(type));
  }

  private String insert(int id, String value) {
    return "INSERT INTO %1$s (id, f, p, l) VALUES (%2$d, %3$s, %3$s, [%3$s])"
        .formatted(table, id, value);
  }

  private String select(int id) {
    return "SELECT toJson(f) AS f, toJson(p) AS p, toJson(l) AS l FROM %s WHERE id = %d"
        .formatted(table, id);
  }

  private static void assertRow(Row row, String value) {
    assertThat(row.getString("f")).isEqualTo(value);
    assertThat(row.getString("p")).isEqualTo(value);
    assertThat(row.getString("l")).isEqualTo("[" + value + "]");
  }

  @Test
  void whenATypeChangesThenATransactionThatWroteItCommitsWhatItWrote() {
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute(insert(1, "{a: 1, b: 2}"));
      transaction.execute(insert(2, "{a: 1, b: 2}"));
      change();
      assertRow(transaction.execute(select(1)).one(), "{\"x\": 1, \"b\": 2, \"c\": null}");
      transaction.execute(
          "UPDATE %s SET f = {x: 1, b: 2, c: 3}, p.c = 3, l = [{x: 1, b: 2, c: 3}] WHERE id = 2"
              .formatted(table));
      assertRow(transaction.execute(select(2)).one(), "{\"x\": 1, \"b\": 2, \"c\": 3}");
      transaction.commit();
    }
    assertRow(SESSION.execute(select(1)).one(), "{\"x\": 1, \"b\": 2, \"c\": null}");
    NODE.flush(table);
    assertRow(SESSION.execute(select(2)).one(), "{\"x\": 1, \"b\": 2, \"c\": 3}");
  }

  @Test
  void whenATypeChangesThenReadersOfThePastSeeTheValuesOfThen() {
    PreparedStatement prepared = SESSION.prepare(insert(3, "{a: 1, b: 2}"));
    SESSION.execute(prepared.bind());
    try (Transaction reader = NODE.isolde().begin();
        Transaction asOf = NODE.isolde().begin(TransactionOptions.asOf(reader.startTimestamp()))) {
      assertRow(reader.execute(select(3)).one(), "{\"a\": 1, \"b\": 2}");
      change();
      SESSION.execute(insert(3, "{x: 7, b: 8, c: 9}"));
      NODE.flush(table);
      assertRow(reader.execute(select(3)).one(), "{\"x\": 1, \"b\": 2, \"c\": null}");
      assertRow(asOf.execute(select(3)).one(), "{\"x\": 1, \"b\": 2, \"c\": null}");
    }
    assertRow(SESSION.execute(select(3)).one(), "{\"x\": 7, \"b\": 8, \"c\": 9}");
  }
}
