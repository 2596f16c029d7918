// SPDX-License-Identifier: Apache-2.0
package io.isolde.conflict;

import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.schema.TableMetadata;

/**
 * What a conflict can be about: a row, a whole partition, or a part of a table.
 *
 * @param key null for a part of a table
 * @param clustering null for a whole partition
 */
public record Granule(TableMetadata table, DecoratedKey key, Clustering<?> clustering) {

  public String tableName() {
    return table.keyspace + "." + table.name;
  }

  /** The primary key as far as it is known, in CQL's notation; for people. */
  public String keyName() {
    if (key == null) {
      return "*";
    }
    String partition = table.partitionKeyType.getString(key.getKey());
    if (clustering == null || clustering.size() == 0) {
      return partition;
    }
    return partition + "," + clustering.toString(table);
  }
}
