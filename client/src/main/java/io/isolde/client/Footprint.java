// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.cql.BatchableStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.ColumnDefinition;
import com.datastax.oss.driver.api.core.cql.ColumnDefinitions;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.type.DataType;
import com.datastax.oss.driver.api.core.type.DataTypes;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
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

  /**
   * Whose values, if they differ as bytes, are different keys. Of sets and maps they need not be,
   * as Cassandra sorts these.
   */
  private static final Set<DataType> SIMPLE =
      Set.of(
          DataTypes.ASCII,
          DataTypes.BIGINT,
          DataTypes.BLOB,
          DataTypes.BOOLEAN,
          DataTypes.DATE,
          DataTypes.DECIMAL,
          DataTypes.DOUBLE,
          DataTypes.FLOAT,
          DataTypes.INET,
          DataTypes.INT,
          DataTypes.SMALLINT,
          DataTypes.TEXT,
          DataTypes.TIME,
          DataTypes.TIMESTAMP,
          DataTypes.TIMEUUID,
          DataTypes.TINYINT,
          DataTypes.UUID,
          DataTypes.VARINT);

  private static final Pattern SELECT = pattern("^\\s*SELECT\\b");

  /**
   * Then a variable that counts as the key's may be something else. Cassandra does not look at the
   * relation: {@code a IN (?, 7)}, {@code a > ? ALLOW FILTERING}. And where it names no key, the
   * driver looks for variables of that name: {@code token(a) > :a}.
   */
  private static final Pattern KEY_IS_NOT_SURE = pattern("\\b(IN|ALLOW|BETWEEN|TOKEN)\\b|:");

  private static Pattern pattern(String regex) {
    return Pattern.compile(regex, Pattern.CASE_INSENSITIVE);
  }

  /** Of a statement that only reads; anywhere if it is not known to do that. */
  static Footprint ofRead(Statement<?> statement) {
    return statement instanceof BoundStatement bound
            && SELECT.matcher(bound.getPreparedStatement().getQuery()).find()
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
    // Keys of different lengths: the table was dropped and created again.
    return table.equals(other.table)
        && (key.isEmpty() || key.size() != other.key.size() || key.equals(other.key));
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
    if (KEY_IS_NOT_SURE.matcher(prepared.getQuery()).find()) {
      return List.of();
    }
    List<ByteBuffer> key = new ArrayList<>();
    for (int index : prepared.getPartitionKeyIndices()) {
      ByteBuffer value = bound.isSet(index) ? bound.getBytesUnsafe(index) : null;
      if (value == null
          || !SIMPLE.contains(prepared.getVariableDefinitions().get(index).getType())) {
        return List.of();
      }
      key.add(value);
    }
    return key;
  }
}
