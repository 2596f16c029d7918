// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import org.apache.cassandra.index.Index;
import org.apache.cassandra.index.internal.CassandraIndex;

/**
 * Indexes that may not name a row that lives.
 *
 * <p>2i of a static column finds a partition only if it is asked for from its beginning on. If a
 * page or a slice begins later, it finds nothing there. So replicas ask it for whole partitions.
 *
 * <p>2i keeps one entry for the key of a row, and gives it the TTL of the row's newest INSERT. When
 * that has expired, the entry is gone, though columns of an older write live on. After a compaction
 * nothing is left that shows it. So replicas never look for rows by 2i of a key column.
 */
public final class LossyIndex {
  private LossyIndex() {}

  /** Whether an index may not name a row that lives. */
  public static boolean is(Index index) {
    return index instanceof CassandraIndex ofCassandra
        && ofCassandra.getIndexedColumn().isPrimaryKeyColumn();
  }

  /** Whether an index must be asked for whole partitions. */
  static boolean isOfPartitions(Index index) {
    return index instanceof CassandraIndex ofCassandra && ofCassandra.getIndexedColumn().isStatic();
  }
}
