// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.util.ArrayList;
import java.util.List;

/** Registers and lists in a strong keyspace. */
final class StrongWorkloadTables {
  private static final int ROWS = 4;

  private final CqlSession session;

  StrongWorkloadTables(CqlSession session) {
    this.session = session;
  }

  static List<String> definitions() {
    return List.of(
        "CREATE KEYSPACE strong WITH replication ="
            + " {'class': 'ReplicatedLogStrategy', 'replication_factor': 3, 'groups': 2}",
        "CREATE TABLE strong.registers (k int PRIMARY KEY, v int)",
        "CREATE TABLE strong.batches (k int, i int, v int, PRIMARY KEY (k, i))",
        "CREATE TABLE strong.lists (k int PRIMARY KEY, v list<int>)");
  }

  private ResultSet execute(String cql, Object... values) {
    return session.execute(
        SimpleStatement.newInstance(cql, values)
            .setConsistencyLevel(ConsistencyLevel.QUORUM)
            .setIdempotent(false));
  }

  /** Each in one row. */
  final class InARow implements RegisterStore {
    @Override
    public void write(int key, int value) {
      var unused = execute("INSERT INTO strong.registers (k, v) VALUES (?, ?)", key, value);
    }

    @Override
    public boolean swap(int key, Integer expected, int value) {
      ResultSet answer =
          expected == null
              ? execute(
                  "INSERT INTO strong.registers (k, v) VALUES (?, ?) IF NOT EXISTS", key, value)
              : execute(
                  "UPDATE strong.registers SET v = ? WHERE k = ? IF v = ?", value, key, expected);
      return answer.wasApplied();
    }

    @Override
    public Integer read(int key) {
      Row row = execute("SELECT v FROM strong.registers WHERE k = ?", key).one();
      return row == null ? null : row.get(0, Integer.class);
    }

    @Override
    public String toString() {
      return "registers in a strong keyspace";
    }
  }

  /** Each in all rows of a partition, which are written in one batch and read as a whole. */
  final class InABatch implements RegisterStore {
    @Override
    public void write(int key, int value) {
      var unused = execute(batch("DELETE FROM strong.batches WHERE k = %d; ", key, value, 0, ""));
    }

    @Override
    public boolean swap(int key, Integer expected, int value) {
      String first =
          expected == null
              ? "INSERT INTO strong.batches (k, i, v) VALUES (%d, 0, %d) IF NOT EXISTS; "
              : "UPDATE strong.batches SET v = %2$d WHERE k = %1$d AND i = 0 IF v = %3$d; ";
      return execute(batch(first, key, value, 1, expected)).wasApplied();
    }

    private static String batch(String first, int key, int value, int firstRow, Object expected) {
      StringBuilder text = new StringBuilder("BEGIN BATCH ");
      text.append(first.formatted(key, value, expected));
      for (int i = firstRow; i < ROWS; i++) {
        text.append(
            "INSERT INTO strong.batches (k, i, v) VALUES (%d, %d, %d); ".formatted(key, i, value));
      }
      return text.append("APPLY BATCH").toString();
    }

    @Override
    public Integer read(int key) {
      List<Integer> values = new ArrayList<>();
      execute("SELECT v FROM strong.batches WHERE k = ?", key)
          .forEach(row -> values.add(row.get(0, Integer.class)));
      return RegisterStore.together(values, ROWS);
    }

    @Override
    public String toString() {
      return "batches in a strong keyspace";
    }
  }

  /** Each in a column of CQL. */
  final class Lists implements StrongLists {
    @Override
    public void append(int key, int value) {
      var unused = execute("UPDATE strong.lists SET v = v + ? WHERE k = ?", List.of(value), key);
    }

    @Override
    public boolean appendIfThere(int key, int value) {
      return execute("UPDATE strong.lists SET v = v + ? WHERE k = ? IF EXISTS", List.of(value), key)
          .wasApplied();
    }

    @Override
    public List<Integer> read(int key) {
      Row row = execute("SELECT v FROM strong.lists WHERE k = ?", key).one();
      return row == null ? List.of() : row.getList(0, Integer.class);
    }
  }
}
