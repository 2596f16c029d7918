// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.apache.cassandra.db.RegularAndStaticColumns;
import org.apache.cassandra.db.filter.ColumnFilter;
import org.apache.cassandra.db.marshal.ListType;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.db.rows.BTreeRow;
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
 *
 * <p>Operations by index or value are of elements that have their place already. Until the commit
 * gives them its timestamp, such cells have an odd one, and all others an even one. So whoever
 * finishes a commit knows them apart.
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

  /** More than elements of one commit: {@link #spread} takes so many. */
  private static final int MAX_ELEMENTS = 1 << (4 * BITS);

  private ListCellPaths() {}

  /** The update with its elements, which keep their order, at the place of a timestamp. */
  public static PartitionUpdate at(long timestampMicros, PartitionUpdate update) {
    return hasLists(update)
        ? rewritten(update, row -> placed(row, timestampMicros, cell -> false))
        : update;
  }

  /** The same; but elements that keep their place stay there. */
  static PartitionUpdate newAt(long timestampMicros, PartitionUpdate update) {
    return hasLists(update) ? rewritten(update, row -> newAt(timestampMicros, row)) : update;
  }

  private static Row newAt(long timestampMicros, Row row) {
    Row placed = placed(row, timestampMicros, ListCellPaths::keepsPlace);
    for (Cell<?> cell : placed.cells()) {
      if (isList(cell.column()) && keepsPlace(cell)) {
        return sorted(placed); // It may stand anywhere among the others.
      }
    }
    return placed;
  }

  /** The row with its cells in their new order. */
  private static Row sorted(Row row) {
    Row.Builder sorted = BTreeRow.unsortedBuilder();
    sorted.newRow(row.clustering());
    sorted.addPrimaryKeyLivenessInfo(row.primaryKeyLivenessInfo());
    sorted.addRowDeletion(row.deletion());
    for (ColumnData data : row) {
      if (data instanceof ComplexColumnData complex) {
        sorted.addComplexDeletion(complex.column(), complex.complexDeletion());
        complex.forEach(sorted::addCell);
      } else {
        sorted.addCell((Cell<?>) data);
      }
    }
    return sorted.build();
  }

  /** Whether an element, which has no timestamp of a commit yet, stays where it is. */
  public static boolean keepsPlace(Cell<?> cell) {
    return cell.timestamp() % 2 != 0;
  }

  /**
   * The row with those elements that keep their place known from new ones.
   *
   * @param timestamp the provisional one of the statement
   */
  public static Row marked(Row row, long timestamp, Predicate<Cell<?>> keepsPlace) {
    return row.transformAndFilter(
        data ->
            isList(data.column()) ? marked((ComplexColumnData) data, timestamp, keepsPlace) : data);
  }

  private static ColumnData marked(
      ComplexColumnData list, long timestamp, Predicate<Cell<?>> keepsPlace) {
    assert timestamp % 2 == 0;
    // The deletions of the next statement begin at the odd number.
    return list.transform(
        cell -> moved(cell, keepsPlace.test(cell) ? timestamp + 1 : timestamp, cell.path()));
  }

  /** The update with other rows of the same keys and columns. */
  public static PartitionUpdate rewritten(PartitionUpdate update, UnaryOperator<Row> rewriting) {
    return rewritten(update, update.columns(), rewriting);
  }

  /**
   * The update with other rows of the same keys.
   *
   * @param columns that the rows may have; of others nothing is written
   */
  public static PartitionUpdate rewritten(
      PartitionUpdate update, RegularAndStaticColumns columns, UnaryOperator<Row> rewriting) {
    return PartitionUpdate.fromIterator(
        Transformation.apply(
            update.unfilteredIterator(),
            new Transformation<>() {
              @Override
              protected RegularAndStaticColumns applyToPartitionColumns(
                  RegularAndStaticColumns ofUpdate) {
                return columns;
              }

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

  private static Row placed(Row row, long timestampMicros, Predicate<Cell<?>> staysAsItIs) {
    return row.transformAndFilter(
        data -> isList(data.column()) ? placed(data, timestampMicros, staysAsItIs) : data);
  }

  private static ColumnData placed(
      ColumnData data, long timestampMicros, Predicate<Cell<?>> staysAsItIs) {
    int[] next = new int[1];
    return ((ComplexColumnData) data)
        .transform(
            cell -> staysAsItIs.test(cell) ? cell : placed(cell, timestampMicros, next[0]++));
  }

  /**
   * An element at the place of a timestamp.
   *
   * @param number of those with the same timestamp, in their order
   */
  public static Cell<?> placed(Cell<?> cell, long timestampMicros, int number) {
    CellPath path = path(timestampMicros, isInFront(cell.path()), number);
    return moved(cell, cell.timestamp(), path);
  }

  private static Cell<?> moved(Cell<?> cell, long timestamp, CellPath path) {
    return new BufferCell(
        cell.column(), timestamp, cell.ttl(), cell.localDeletionTime(), cell.buffer(), path);
  }

  /** Whether an element was put in front of its list. */
  public static boolean isInFront(CellPath path) {
    return TimeUUID.deserialize(path.get(0)).unixMicros() < MIRROR_MICROS;
  }

  /** The place of the first, second… element that is put behind its list at a moment. */
  public static CellPath behind(long micros, int number) {
    return path(micros, false, number);
  }

  /** The place of the first, second… element that is put in front: each before the last. */
  public static CellPath inFront(long micros, int number) {
    return path(micros, true, MAX_ELEMENTS - 1 - number);
  }

  private static CellPath path(long timestampMicros, boolean isInFront, int number) {
    long micros = isInFront ? 2 * MIRROR_MICROS - timestampMicros : timestampMicros;
    return CellPath.create(
        TimeUUID.atUnixMicrosWithLsb(micros, NOWHERE | spread(number)).toBytes());
  }

  private static long spread(int number) {
    assert number < MAX_ELEMENTS : "a commit is smaller than so many elements";
    long spread = 0;
    for (int i = 0; i < 4; i++) {
      spread |= (long) (number >>> (BITS * i) & 0x7f) << (Byte.SIZE * i);
    }
    return spread;
  }
}
