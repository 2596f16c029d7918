// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import org.apache.cassandra.schema.DroppedColumn;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;

/**
 * What a table remembers of columns that it had. Cells of such a column are gone if their
 * timestamps are not above the moment of the drop. That goes also when there is a column of that
 * name again.
 */
public final class DroppedColumns {
  private static final long MICROS_PER_MILLI = 1000;

  private DroppedColumns() {}

  /** When a column was last dropped (microseconds); 0 if none was. */
  public static long newestMicros(TableMetadata table) {
    long newest = 0;
    for (DroppedColumn dropped : table.droppedColumns.values()) {
      newest = Math.max(newest, dropped.droppedTime);
    }
    return newest;
  }

  /** The same, of the table as this node knows it now. */
  public static long newestMicrosNow(TableMetadata table) {
    return newestMicros(now(table));
  }

  private static TableMetadata now(TableMetadata table) {
    TableMetadata now = Schema.instance.getTableMetadata(table.id);
    return now == null ? table : now;
  }

  /** Whether the table had a column when a statement was prepared that it has no longer. */
  @SuppressWarnings("ReferenceEquality") // mostly it is the same, and then there is nothing to do
  public static boolean haveGoneSince(TableMetadata prepared) {
    TableMetadata now = now(prepared);
    return now != prepared
        && !now.regularAndStaticColumns().includes(prepared.regularAndStaticColumns());
  }

  /**
   * The moment of a drop after a timestamp: the schema keeps it in milliseconds, so that any other
   * one would be earlier for the nodes that read it from there.
   */
  public static long momentAfter(long micros) {
    return (Math.floorDiv(micros, MICROS_PER_MILLI) + 1) * MICROS_PER_MILLI;
  }
}
