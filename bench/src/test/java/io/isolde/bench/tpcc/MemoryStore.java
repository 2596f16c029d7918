// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Tables in memory. */
final class MemoryStore implements Store {
  private final Map<Table, TreeMap<List<Object>, Map<String, Object>>> tables =
      new EnumMap<>(Table.class);

  MemoryStore() {
    for (Table table : Table.values()) {
      tables.put(table, new TreeMap<>((a, b) -> compare(table, a, b)));
    }
  }

  private static int compare(Table table, List<Object> a, List<Object> b) {
    for (int i = 0; i < Math.min(a.size(), b.size()); i++) {
      int order =
          a.get(i) instanceof Integer number
              ? number.compareTo((Integer) b.get(i))
              : ((String) a.get(i)).compareTo((String) b.get(i));
      if (order != 0) {
        boolean isNewestFirst = table == Table.ORDER_BY_CUSTOMER && i >= table.partitionColumns();
        return isNewestFirst ? -order : order;
      }
    }
    return a.size() - b.size(); // A partition comes before its rows.
  }

  int size(Table table) {
    return tables.get(table).size();
  }

  /** All rows of all tables, to compare. */
  String content() {
    return tables.toString();
  }

  @Override
  public Optional<Row> find(Table table, Object... key) {
    return Optional.ofNullable(tables.get(table).get(Arrays.asList(key))).map(Row::new);
  }

  @Override
  public List<Row> slice(Table table, int limit, Object... partition) {
    List<Row> rows = new ArrayList<>();
    List<Object> prefix = Arrays.asList(partition);
    for (var row : tables.get(table).tailMap(prefix).entrySet()) {
      if (rows.size() == limit || !row.getKey().subList(0, prefix.size()).equals(prefix)) {
        break;
      }
      rows.add(new Row(row.getValue()));
    }
    return rows;
  }

  @Override
  public void put(Table table, Row columns, Object... key) {
    if (key.length != table.key().size()) {
      throw new IllegalArgumentException("The key of " + table + " has another length.");
    }
    Map<String, Object> row =
        tables.get(table).computeIfAbsent(Arrays.asList(key.clone()), unused -> new TreeMap<>());
    for (int i = 0; i < key.length; i++) {
      row.put(table.key().get(i), key[i]);
    }
    row.putAll(columns.columns());
  }

  @Override
  public void delete(Table table, Object... key) {
    tables.get(table).remove(Arrays.asList(key));
  }
}
