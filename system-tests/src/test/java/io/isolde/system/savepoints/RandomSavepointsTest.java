// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.savepoints;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsoldeException;
import io.isolde.client.Savepoint;
import io.isolde.client.Transaction;
import io.isolde.system.SystemNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Random transactions with savepoints, on a table with a unique index, against a model: what they
 * see, what is refused, and what is there after their commit.
 */
class RandomSavepointsTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final int TRANSACTIONS = 60;
  private static final int STEPS = 30;
  private static final int KEYS = 6;
  private static final int VALUES = 8;

  private final long seed = Long.getLong("isolde.seed", System.nanoTime());
  private final Random random = new Random(seed);
  private final String table = NODE.table("id int, c int, v text, PRIMARY KEY (id, c)");
  private Map<String, String> model = new TreeMap<>();

  /** What the transaction saw when it set a savepoint. */
  private record Moment(Savepoint savepoint, Map<String, String> rows) {}

  @Test
  void whenTransactionsGoBackThenRowsAndEntriesAreThoseOfTheModel() {
    String index = SystemNode.freshName("values");
    NODE.session().execute("CREATE UNIQUE INDEX %s ON %s (v)".formatted(index, table));
    for (int i = 0; i < TRANSACTIONS; i++) {
      Map<String, String> before = new TreeMap<>(model);
      try (Transaction tx = NODE.isolde().begin()) {
        run(tx);
        if (random.nextInt(4) == 0) {
          model = before;
        } else {
          tx.commit();
        }
      }
      assertThat(rows(NODE.session().execute("SELECT id, c, v FROM " + table)))
          .as("seed %d, transaction %d", seed, i)
          .isEqualTo(model);
      assertThat(
              rows(
                  NODE.session()
                      .execute("SELECT id, c, v FROM " + SystemNode.KEYSPACE + "." + index)))
          .as("entries, seed %d, transaction %d", seed, i)
          .isEqualTo(model);
    }
  }

  private static Map<String, String> rows(ResultSet found) {
    Map<String, String> rows = new TreeMap<>();
    for (Row row : found) {
      rows.put(row.getInt("id") + " " + row.getInt("c"), String.valueOf(row.getString("v")));
    }
    return rows;
  }

  private void run(Transaction tx) {
    List<Moment> moments = new ArrayList<>();
    for (int i = 0; i < STEPS; i++) {
      switch (random.nextInt(10)) {
        case 0, 1 -> moments.add(new Moment(tx.savepoint(), new TreeMap<>(model)));
        case 2 -> {
          if (!moments.isEmpty()) {
            backTo(random.nextInt(moments.size()), moments, tx);
          }
        }
        case 3 -> {
          if (!moments.isEmpty()) {
            int released = random.nextInt(moments.size());
            tx.release(moments.get(released).savepoint());
            moments.subList(released, moments.size()).clear();
          }
        }
        case 4 ->
            assertThat(rows(tx.execute("SELECT id, c, v FROM " + table)))
                .as("seed %d", seed)
                .isEqualTo(model);
        default -> write(tx, moments);
      }
    }
  }

  private void backTo(int n, List<Moment> moments, Transaction tx) {
    tx.rollbackTo(moments.get(n).savepoint());
    model = new TreeMap<>(moments.get(n).rows());
    moments.subList(n + 1, moments.size()).clear();
  }

  private void write(Transaction tx, List<Moment> moments) {
    int id = random.nextInt(KEYS);
    int c = random.nextInt(2);
    String key = id + " " + c;
    Map<String, String> next = new TreeMap<>(model);
    String cql;
    boolean isRefused = false;
    switch (random.nextInt(5)) {
      case 0 -> {
        cql = "DELETE FROM %s WHERE id = %d AND c = %d".formatted(table, id, c);
        next.remove(key);
      }
      case 1 -> {
        cql = "DELETE FROM %s WHERE id = %d".formatted(table, id);
        next.keySet().removeIf(other -> other.startsWith(id + " "));
      }
      default -> {
        String v = "v" + random.nextInt(VALUES);
        cql = "INSERT INTO %s (id, c, v) VALUES (%d, %d, '%s')".formatted(table, id, c, v);
        isRefused =
            model.entrySet().stream()
                .anyMatch(row -> row.getValue().equals(v) && !row.getKey().equals(key));
        next.put(key, v);
      }
    }
    if (!isRefused) {
      written(cql, next, tx);
    } else if (!moments.isEmpty()) { // Else it would end the transaction.
      refused(cql, tx);
      backTo(moments.size() - 1, moments, tx);
    }
  }

  private void written(String cql, Map<String, String> next, Transaction tx) {
    if (random.nextBoolean()) {
      tx.execute(cql);
    } else {
      tx.write(cql);
    }
    model = next;
  }

  private void refused(String cql, Transaction tx) {
    try {
      tx.execute(cql);
      throw new AssertionError("seed %d: not refused: %s".formatted(seed, cql));
    } catch (IsoldeException e) {
      assertThat(e.code()).as("seed %d", seed).isEqualTo(ErrorCode.UNIQUE_VIOLATION);
    }
  }
}
