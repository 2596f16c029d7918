// SPDX-License-Identifier: Apache-2.0
package io.isolde.conflict;

import java.util.Arrays;
import java.util.Collection;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.schema.TableMetadata;

/**
 * What a write without a transaction changes, as the ids of {@link RowIds} that watches look for.
 * Of all that {@link WriteSet} finds out this is the part that each write of a log can afford.
 */
public final class WrittenIds {
  private static final int IDS_OF_ONE_ROW = 4;

  private long[] ids = new long[IDS_OF_ONE_ROW];
  private int count;

  private WrittenIds() {}

  /** Those of rows, partitions, token ranges, and of deletions of more than a row. */
  public static long[] of(Collection<PartitionUpdate> updates) {
    WrittenIds written = new WrittenIds();
    updates.forEach(written::add);
    return written.count == written.ids.length
        ? written.ids
        : Arrays.copyOf(written.ids, written.count);
  }

  private void add(PartitionUpdate update) {
    TableMetadata table = update.metadata();
    DecoratedKey key = update.partitionKey();
    add(RowIds.bucket(table, key));
    add(RowIds.partition(table, key));
    if (!update.deletionInfo().isLive()) {
      add(RowIds.sweep(table, key));
    }
    if (!update.staticRow().isEmpty()) {
      add(RowIds.row(table, key, update.staticRow().clustering()));
    }
    for (Row row : update) {
      add(RowIds.row(table, key, row.clustering()));
    }
  }

  private void add(long id) {
    if (count == ids.length) {
      ids = Arrays.copyOf(ids, 2 * count);
    }
    ids[count++] = id;
  }
}
