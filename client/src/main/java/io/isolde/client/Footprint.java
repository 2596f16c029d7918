// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.cql.BatchableStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.ColumnDefinition;
import com.datastax.oss.driver.api.core.cql.ColumnDefinitions;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Where a statement of a transaction reads or writes, as far as that can be told without asking a
 * node: the table of a prepared statement, and its partition where the statement has a value for
 * each column of the key. Of all else it is {@link #ANYWHERE}: whoever is not sure that two
 * statements are of different rows takes them to be of the same.
 *
 * @param table with its keyspace; empty if it is not known
 * @param key the values of the partition key; empty for any partition of the table
 */
record Footprint(String table, List<ByteBuffer> key) {
  static final Footprint ANYWHERE = new Footprint("", List.of());

  /** Then a value for a key's column may be one of several: {@code IN (?, 7)}. */
  private static final Pattern IN = Pattern.compile("\\bIN\\b", Pattern.CASE_INSENSITIVE);

  /** Of a statement that only reads; anywhere if it is not known to do that. */
  static Footprint ofRead(Statement<?> statement) {
    return statement instanceof BoundStatement bound
        ? of(bound, bound.getPreparedStatement().getResultSetDefinitions())
        : ANYWHERE;
  }

  static Footprint ofWrite(BatchableStatement<?> write) {
    return write instanceof BoundStatement bound
        ? of(bound, bound.getPreparedStatement().getVariableDefinitions())
        : ANYWHERE;
  }

  /** False only if no row is in both. */
  boolean mayOverlap(Footprint other) {
    if (table.isEmpty() || other.table.isEmpty()) {
      return true;
    }
    return table.equals(other.table)
        && (key.isEmpty() || other.key.isEmpty() || key.equals(other.key));
  }

  /**
   * Where the statement is.
   *
   * @param ofTable columns of the statement that are all of its table
   */
  private static Footprint of(BoundStatement bound, ColumnDefinitions ofTable) {
    if (ofTable.size() == 0) {
      return ANYWHERE;
    }
    ColumnDefinition column = ofTable.get(0);
    String table = column.getKeyspace().asInternal() + "." + column.getTable().asInternal();
    return new Footprint(table, key(bound));
  }

  private static List<ByteBuffer> key(BoundStatement bound) {
    PreparedStatement prepared = bound.getPreparedStatement();
    if (IN.matcher(prepared.getQuery()).find()) {
      return List.of();
    }
    List<ByteBuffer> key = new ArrayList<>();
    for (int index : prepared.getPartitionKeyIndices()) {
      ByteBuffer value = bound.isSet(index) ? bound.getBytesUnsafe(index) : null;
      if (value == null) {
        return List.of();
      }
      key.add(value);
    }
    return key;
  }
}
