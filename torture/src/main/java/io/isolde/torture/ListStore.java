// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.Transaction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A way to keep lists in tables. */
enum ListStore {
  /** A text that is read and written whole: each append depends on what it read. */
  TEXT("CREATE TABLE IF NOT EXISTS torture.texts (k int PRIMARY KEY, v text)", "torture.texts") {
    @Override
    List<Integer> read(Transaction tx, int key) {
      Row row = tx.execute("SELECT v FROM torture.texts WHERE k = ?", key).one();
      if (row == null || row.isNull(0)) {
        return List.of();
      }
      return Arrays.stream(row.getString(0).split(",")).map(Integer::valueOf).toList();
    }

    @Override
    void append(Transaction tx, int key, int value) {
      StringBuilder text = new StringBuilder();
      read(tx, key).forEach(each -> text.append(each).append(','));
      tx.execute("INSERT INTO torture.texts (k, v) VALUES (?, ?)", key, text.toString() + value);
    }
  },

  /** A list of CQL: appends are blind. */
  LIST(
      "CREATE TABLE IF NOT EXISTS torture.lists (k int PRIMARY KEY, v list<int>)",
      "torture.lists") {
    @Override
    List<Integer> read(Transaction tx, int key) {
      Row row = tx.execute("SELECT v FROM torture.lists WHERE k = ?", key).one();
      return row == null ? List.of() : row.getList(0, Integer.class);
    }

    @Override
    void append(Transaction tx, int key, int value) {
      tx.write("UPDATE torture.lists SET v = v + ? WHERE k = ?", List.of(value), key);
    }
  },

  /** Rows of a partition, read as a slice: an append is a row that was not there. */
  ROWS(
      "CREATE TABLE IF NOT EXISTS torture.slices (k int, i int, v int, PRIMARY KEY (k, i))",
      "torture.slices") {
    @Override
    List<Integer> read(Transaction tx, int key) {
      List<Integer> values = new ArrayList<>();
      tx.execute("SELECT v FROM torture.slices WHERE k = ? AND i >= 0", key)
          .forEach(row -> values.add(row.getInt(0)));
      return values;
    }

    @Override
    void append(Transaction tx, int key, int value) {
      int next = read(tx, key).size();
      tx.execute("INSERT INTO torture.slices (k, i, v) VALUES (?, ?, ?)", key, next, value);
    }
  };

  private final String schema;
  private final String table;

  ListStore(String schema, String table) {
    this.schema = schema;
    this.table = table;
  }

  List<String> schema() {
    return List.of(schema, "ENABLE TRANSACTIONS ON " + table);
  }

  abstract List<Integer> read(Transaction tx, int key);

  abstract void append(Transaction tx, int key, int value);
}
