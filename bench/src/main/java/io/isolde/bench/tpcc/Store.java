// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a transaction sees of the database. Keys are the values of the primary key's columns, in
 * their order; columns are int, long or String. Every method throws when it fails.
 */
interface Store {

  /** Columns by name, those of the key included. */
  record Row(Map<String, Object> columns) {
    /** Without columns. */
    static final Row EMPTY = new Row(Map.of());

    /** Of one column; see {@link #and}. */
    static Row of(String column, Object value) {
      return EMPTY.and(column, value);
    }

    /** With one more column. */
    Row and(String column, Object value) {
      Map<String, Object> all = new HashMap<>(columns);
      all.put(column, value);
      return new Row(all);
    }

    int number(String column) {
      return (Integer) columns.get(column);
    }

    long amount(String column) {
      return (Long) columns.get(column);
    }

    String text(String column) {
      return (String) columns.get(column);
    }
  }

  /** Returns a row by its whole key. */
  Optional<Row> find(Table table, Object... key);

  /**
   * Returns rows of a partition in the order of the table.
   *
   * @param limit the most rows
   * @param partition the values of the partition key
   */
  List<Row> slice(Table table, int limit, Object... partition);

  /** Sets these columns of a row, which need not be there yet; the others stay as they are. */
  void put(Table table, Row columns, Object... key);

  /** Sets these columns of a row that is there; the others stay as they are. */
  default void set(Table table, Row columns, Object... key) {
    put(table, columns, key);
  }

  /** Deletes a row. */
  void delete(Table table, Object... key);

  /** Returns the values of a key, as one argument of the methods above. */
  static Object[] key(Object... values) {
    return values;
  }

  /**
   * Keeps others that ask the same from going on, until the transaction ends.
   *
   * @return the row; empty from a store that has no locks
   */
  default Optional<Row> lock(Table table, Object... key) {
    return Optional.empty();
  }

  /** Returns a row that must be there. */
  default Row get(Table table, Object... key) {
    return find(table, key)
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "There is no row %s in %s.".formatted(List.of(key), table.cqlName())));
  }
}
