// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Where registers are. */
enum RegisterPlace {
  /** Each in a row of its own. */
  ROW("torture.registers", 1, ""),
  /** Several in the columns of one row, whose conflicts are by cell. */
  CELL("torture.cells", 4, " WITH conflicts = 'cell'");

  private final String table;
  private final int columns;
  private final String options;

  RegisterPlace(String table, int columns, String options) {
    this.table = table;
    this.columns = columns;
    this.options = options;
  }

  List<String> schema() {
    String all =
        IntStream.range(0, columns)
            .mapToObj(key -> ", " + column(key) + " int")
            .collect(Collectors.joining());
    return List.of(
        "CREATE TABLE IF NOT EXISTS %s (k int PRIMARY KEY%s)".formatted(table, all),
        "ENABLE TRANSACTIONS ON " + table + options);
  }

  int row(int key) {
    return key / columns;
  }

  String column(int key) {
    return columns == 1 ? "v" : "v" + key % columns;
  }

  String select(int key) {
    return "SELECT %s FROM %s WHERE k = ?".formatted(column(key), table);
  }

  /** Takes the value and the row. */
  String update(int key) {
    return "UPDATE %s SET %s = ? WHERE k = ?".formatted(table, column(key));
  }

  /** Takes the value and the row. */
  String updateIfAbsent(int key) {
    return columns == 1
        ? "INSERT INTO %s (%s, k) VALUES (?, ?) IF NOT EXISTS".formatted(table, column(key))
        : update(key) + " IF " + column(key) + " = null";
  }
}
