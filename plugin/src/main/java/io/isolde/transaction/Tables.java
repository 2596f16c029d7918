// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.version.NodeVersions;
import io.isolde.version.VersionIndex;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.cassandra.schema.SchemaConstants;
import org.apache.cassandra.schema.TableMetadata;

/** Which tables are transactional. */
public final class Tables {
  private Tables() {}

  public static boolean isTransactional(TableMetadata table) {
    return NodeVersions.ofThisNode().of(table.id) != null;
  }

  /** Cassandra's own tables, which a transaction may look at as they are. */
  public static boolean isSystem(TableMetadata table) {
    return table.isVirtual() || SchemaConstants.isSystemKeyspace(table.keyspace);
  }

  /**
   * Each of them once. One that comes again and again is hashed once, too: a table's hash goes over
   * all of its schema.
   */
  @SuppressWarnings("ReferenceEquality") // only saves hashing
  public static Set<TableMetadata> distinct(Iterable<TableMetadata> tables) {
    Set<TableMetadata> distinct = new LinkedHashSet<>();
    TableMetadata last = null;
    for (TableMetadata table : tables) {
      if (table != last) {
        distinct.add(table);
      }
      last = table;
    }
    return distinct;
  }

  /**
   * Returns the versions of a transactional table.
   *
   * @throws IsoldeException NOT_TRANSACTIONAL
   */
  public static VersionIndex requireTransactional(TableMetadata table) {
    VersionIndex versions = NodeVersions.ofThisNode().of(table.id);
    if (versions == null) {
      throw IsoldeException.of(
          ErrorCode.NOT_TRANSACTIONAL,
          "The table " + table + " is not transactional; see ENABLE TRANSACTIONS ON " + table + ".",
          "table",
          table);
    }
    return versions;
  }
}
