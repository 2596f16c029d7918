// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.ycsb;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.StringByteIterator;

/**
 * YCSB's view of a table. YCSB looks away when an operation fails, so every failure is an exception
 * here, also a row that is not found although it was loaded. One object per thread.
 */
final class YcsbDb extends DB {
  private final Rows rows;

  /** What is to be done together; null unless something is. */
  private List<Rows.Update> together;

  /** What the binding needs of a table. Every method throws when it fails. */
  interface Rows {

    /** The fields of a row that changes; no other row does. */
    record Update(String key, Map<String, String> fields) {}

    /** Returns the fields of a row; none if it is not there. */
    Map<String, String> read(String key);

    /** Returns as many rows, from the first key on in the order of the table. */
    List<Map<String, String>> scan(String firstKey, int count);

    void update(Update update);

    /** All of them, in whatever way the table has for that. */
    void updateAll(List<Update> updates);

    void insert(String key, Map<String, String> fields);
  }

  YcsbDb(Rows rows) {
    this.rows = rows;
  }

  /** Collects what the step updates, then does all of it. */
  void together(Runnable step) {
    together = new ArrayList<>();
    try {
      step.run();
      rows.updateAll(together);
    } finally {
      together = null;
    }
  }

  @Override
  public Status read(
      String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    Map<String, String> row = rows.read(key);
    if (row.isEmpty()) {
      throw new IllegalStateException("The row %s must be there, but is not.".formatted(key));
    }
    result.putAll(iterators(row));
    return Status.OK;
  }

  @Override
  @SuppressWarnings({"JdkObsolete", "NonApiType"}) // These types are what YCSB asks for.
  public Status scan(
      String table,
      String startKey,
      int count,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    List<Map<String, String>> found = rows.scan(startKey, count);
    if (found.isEmpty()) {
      throw new IllegalStateException(
          "A scan from %s on must find that row, but found none.".formatted(startKey));
    }
    found.forEach(row -> result.add(iterators(row)));
    return Status.OK;
  }

  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    Rows.Update update = new Rows.Update(key, StringByteIterator.getStringMap(values));
    if (together == null) {
      rows.update(update);
    } else {
      together.add(update);
    }
    return Status.OK;
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    rows.insert(key, StringByteIterator.getStringMap(values));
    return Status.OK;
  }

  @Override
  public Status delete(String table, String key) {
    return Status.NOT_IMPLEMENTED; // No workload deletes.
  }

  @SuppressWarnings("NonApiType") // It becomes an element of YCSB's list.
  private static HashMap<String, ByteIterator> iterators(Map<String, String> row) {
    HashMap<String, ByteIterator> iterators = new HashMap<>();
    row.forEach((field, value) -> iterators.put(field, new StringByteIterator(value)));
    return iterators;
  }
}
