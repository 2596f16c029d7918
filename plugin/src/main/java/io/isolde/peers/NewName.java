// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.SchemaConstants;

/**
 * A keyspace or a table that is to be made.
 *
 * @param table null for a keyspace
 */
public record NewName(String keyspace, String table) {
  /** Whether Cassandra takes such names. */
  public boolean isValid() {
    return SchemaConstants.isValidCharsName(keyspace)
        && (table == null || SchemaConstants.isValidCharsName(table));
  }

  /** Whether this node's schema has it. */
  boolean isInSchema() {
    return table == null
        ? Schema.instance.getKeyspaceMetadata(keyspace) != null
        : Schema.instance.getTableMetadata(keyspace, table) != null;
  }

  /** As {@link #isInSchema}, but not if it is being dropped: waits for a change under way. */
  public boolean isThere() {
    if (!isInSchema()) {
      return false;
    }
    var unused = Schema.instance.transform(before -> before);
    return isInSchema();
  }

  /** As nodes say it to each other. */
  static NewName parse(String text) {
    int dot = text.indexOf('.');
    return dot < 0
        ? new NewName(text, null)
        : new NewName(text.substring(0, dot), text.substring(dot + 1));
  }

  @Override
  public String toString() {
    return table == null ? keyspace : keyspace + "." + table;
  }
}
