// SPDX-License-Identifier: Apache-2.0
package io.isolde.statement;

import java.nio.ByteBuffer;
import org.apache.cassandra.cql3.Operation;
import org.apache.cassandra.cql3.Term;
import org.apache.cassandra.cql3.UpdateParameters;
import org.apache.cassandra.db.Clustering;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.marshal.CounterColumnType;
import org.apache.cassandra.db.marshal.NumberType;
import org.apache.cassandra.db.marshal.StringType;
import org.apache.cassandra.db.rows.Cell;
import org.apache.cassandra.db.rows.Row;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * {@code SET v = v + ?} and {@code SET v = v - ?} on a column of numbers: exact, from the value
 * that was read; and {@code v + ?} on a column of texts. What is null stays null, as in SQL, and as
 * Cassandra does it with conditions.
 */
public final class ValueChange extends Operation {
  private final boolean isSubtraction;

  /**
   * Makes one.
   *
   * @param change what is added or subtracted
   * @param isSubtraction which of them
   */
  public ValueChange(ColumnMetadata column, Term change, boolean isSubtraction) {
    super(column, change);
    assert isFor(column, isSubtraction);
    this.isSubtraction = isSubtraction;
  }

  /** Whether values of a column can be changed so. */
  public static boolean isFor(ColumnMetadata column, boolean isSubtraction) {
    return isOfNumbers(column) || (column.type instanceof StringType && !isSubtraction);
  }

  private static boolean isOfNumbers(ColumnMetadata column) {
    return column.type instanceof NumberType<?> && !(column.type instanceof CounterColumnType);
  }

  @Override
  public boolean requiresRead() {
    return true;
  }

  @Override
  @SuppressWarnings("ReferenceEquality") // UNSET is this very buffer
  public void execute(DecoratedKey key, UpdateParameters parameters) {
    ByteBuffer bound = t.bindAndGet(parameters.options);
    if (bound == ByteBufferUtil.UNSET_BYTE_BUFFER) {
      return;
    }
    if (column.type.isNull(bound)) {
      throw new InvalidRequestException(
          "What is added to or subtracted from the column " + column.name + " can't be null.");
    }
    Clustering<?> of =
        column.isStatic() ? Clustering.STATIC_CLUSTERING : parameters.currentClustering();
    Row row = parameters.getPrefetchedRow(key, of);
    Cell<?> cell = row == null ? null : row.getCell(column);
    if (cell != null && !column.type.isNull(cell.buffer())) {
      parameters.addCell(column, changed(cell.buffer(), bound));
    }
  }

  private ByteBuffer changed(ByteBuffer before, ByteBuffer change) {
    if (!isOfNumbers(column)) {
      return ByteBuffer.allocate(before.remaining() + change.remaining())
          .put(before.duplicate())
          .put(change.duplicate())
          .flip();
    }
    @SuppressWarnings("unchecked") // values of any number type are numbers
    NumberType<Number> type = (NumberType<Number>) column.type;
    return changed(type, type.compose(before), type.compose(change));
  }

  private ByteBuffer changed(NumberType<Number> type, Number before, Number change) {
    boolean isFixed =
        before instanceof Long
            || before instanceof Integer
            || before instanceof Short
            || before instanceof Byte;
    if (isFixed) {
      return type.decompose(fitting(before, exact(before.longValue(), change.longValue())));
    }
    return isSubtraction ? type.substract(before, change) : type.add(before, change);
  }

  private long exact(long before, long change) {
    try {
      return isSubtraction ? Math.subtractExact(before, change) : Math.addExact(before, change);
    } catch (ArithmeticException e) {
      throw overflow();
    }
  }

  /** The value as the class of another number. */
  private Number fitting(Number like, long value) {
    Number fitting = value;
    if (like instanceof Integer) {
      fitting = (int) value;
    } else if (like instanceof Short) {
      fitting = (short) value;
    } else if (like instanceof Byte) {
      fitting = (byte) value;
    }
    if (fitting.longValue() != value) {
      throw overflow();
    }
    return fitting;
  }

  private InvalidRequestException overflow() {
    return new InvalidRequestException(
        "The new value of the column " + column.name + " is out of the range of its type.");
  }
}
