// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import java.nio.ByteBuffer;
import java.util.function.UnaryOperator;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.marshal.ListType;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.BufferCell;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.CellPath;
import org.apache.cassandra.db.rows.ColumnData;
import org.apache.cassandra.db.rows.ComplexColumnData;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.db.transform.Transformation;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.utils.TimeUUID;

/**
 * Places what is added to lists. Cassandra orders a list by when and where its elements were added:
 * by the clock of the coordinator that executed the statement. Here it must be the order of the
 * commits, or a transaction would find its element before one that was there when it began.
 */
public final class ListCellPaths {
  /**
   * Elements that were put in front have a place before 2010, mirrored at it, as Cassandra does.
   */
  private static final long MIRROR_MICROS = 1_262_304_000_000_000L;

  /** Bytes of a time UUID are compared as signed ones, so each takes seven bits of a number. */
  private static final int BITS = 7;

  /** The variant that every time UUID has in its first bits. */
  private static final long NOWHERE = 0x8080_8080_0000_0000L;

  private ListCellPaths() {}

  /** The update with its elements, which keep their order, at the place of a timestamp. */
  public static PartitionUpdate at(long timestampMicros, PartitionUpdate update) {
    if (!hasLists(update)) {
      return update;
    }
    return rewritten(update, row -> row.transformAndFilter(data -> at(timestampMicros, data)));
  }

  /** The update with other rows of the same keys. */
  public static PartitionUpdate rewritten(PartitionUpdate update, UnaryOperator<Row> rewriting) {
    return PartitionUpdate.fromIterator(
        Transformation.apply(
            update.unfilteredIterator(),
            new Transformation<>() {
              @Override
              protected Row applyToRow(Row row) {
                return rewriting.apply(row);
              }

              @Override
              protected Row applyToStatic(Row row) {
                return row.isEmpty() ? row : rewriting.apply(row);
              }
            }),
        ColumnFilter.all(update.metadata()));
  }

  /** Whether an update may write to elements of lists. */
  public static boolean hasLists(PartitionUpdate update) {
    for (ColumnMetadata column : update.columns()) {
      if (isList(column)) {
        return true;
      }
    }
    return false;
  }

  /** Whether the elements of a column have places. */
  public static boolean isList(ColumnMetadata column) {
    return column.isComplex() && column.type instanceof ListType;
  }

  private static ColumnData at(long timestampMicros, ColumnData data) {
    if (!isList(data.column())) {
      return data;
    }
    int[] next = new int[1];
    return ((ComplexColumnData) data).transform(cell -> placed(cell, timestampMicros, next[0]++));
  }

  /**
   * An element at the place of a timestamp.
   *
   * @param number of those with the same timestamp, in their order
   */
  public static Cell<?> placed(Cell<?> cell, long timestampMicros, int number) {
    long before = TimeUUID.deserialize(cell.path().get(0)).unixMicros();
    long micros = before < MIRROR_MICROS ? 2 * MIRROR_MICROS - timestampMicros : timestampMicros;
    ByteBuffer place = TimeUUID.atUnixMicrosWithLsb(micros, NOWHERE | spread(number)).toBytes();
    return new BufferCell(
        cell.column(),
        cell.timestamp(),
        cell.ttl(),
        cell.localDeletionTime(),
        cell.buffer(),
        CellPath.create(place));
  }

  private static long spread(int number) {
    assert number < 1 << (4 * BITS) : "a commit is smaller than so many elements";
    long spread = 0;
    for (int i = 0; i < 4; i++) {
      spread |= (long) (number >>> (BITS * i) & 0x7f) << (Byte.SIZE * i);
    }
    return spread;
  }
}
