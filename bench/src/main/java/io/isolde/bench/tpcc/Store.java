// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

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
  void put(Table table, Map<String, Object> columns, Object... key);

  /** Deletes a row. */
  void delete(Table table, Object... key);

  /** Returns a row that must be there. */
  default Row get(Table table, Object... key) {
    return find(table, key)
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "There is no row %s in %s.".formatted(List.of(key), table.cqlName())));
  }
}
