// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import org.apache.cassandra.cql3.ColumnSpecification;
import org.apache.cassandra.db.marshal.ByteType;
import org.apache.cassandra.db.marshal.DecimalType;
import org.apache.cassandra.db.marshal.DoubleType;
import org.apache.cassandra.db.marshal.FloatType;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.IntegerType;
import org.apache.cassandra.db.marshal.LongType;
import org.apache.cassandra.db.marshal.NumberType;
import org.apache.cassandra.db.marshal.ShortType;
import org.apache.cassandra.exceptions.InvalidRequestException;

/**
 * Calculates with numbers of all types. Integers are exact, whatever their width; only a result
 * that does not fit its column is refused. A double or a float makes the result a double, and else
 * a decimal makes it a decimal, as in Cassandra. All numbers here are BigInteger, BigDecimal or
 * Double.
 */
final class ExactNumbers {
  /** Of the largest number that is calculated with. */
  private static final int MAX_BITS = 1 << 15;

  /** More than the digits of MAX_BITS bits. */
  private static final int MAX_DIGITS = 10_000;

  private ExactNumbers() {}

  /** A number of a column's type as one of the three. */
  static Number of(Number number) {
    if (number instanceof Float || number instanceof Double) {
      return number.doubleValue();
    }
    return number instanceof BigInteger || number instanceof BigDecimal
        ? number
        : BigInteger.valueOf(number.longValue());
  }

  /** A number that was written, as it would be in a column of a type. */
  static Number written(BigDecimal number, NumberType<?> like) {
    if (like instanceof FloatType) {
      return (double) number.floatValue();
    }
    if (like instanceof DoubleType) {
      return number.doubleValue();
    }
    return number.scale() <= 0 ? number.toBigIntegerExact() : number;
  }

  /**
   * Calculates.
   *
   * @param operator one of {@code + - * / %}; integers are divided without their remainder
   * @throws InvalidRequestException if it divides by zero, or the result is very large
   */
  static Number calculate(Number left, char operator, Number right) {
    requireBounded(left);
    requireBounded(right);
    try {
      Number result;
      if (left instanceof Double || right instanceof Double) {
        result = DoubleType.instance.compose(with(DoubleType.instance, left, operator, right));
      } else if (left instanceof BigDecimal || right instanceof BigDecimal) {
        result = DecimalType.instance.compose(with(DecimalType.instance, left, operator, right));
      } else {
        result = exact((BigInteger) left, operator, (BigInteger) right);
      }
      return bounded(result);
    } catch (ArithmeticException e) {
      throw new InvalidRequestException(
          "The result of " + left + " " + operator + " " + right + " is not a number.");
    }
  }

  /** Decimals may have a billion digits, which nobody has written down. */
  private static void requireBounded(Number operand) {
    var unused = bounded(operand);
    if (operand instanceof BigDecimal decimal
        && (Math.abs((long) decimal.scale()) > MAX_DIGITS || decimal.precision() > MAX_DIGITS)) {
      throw new InvalidRequestException(
          "A decimal has more than " + MAX_DIGITS + " digits; blocks calculate with smaller ones.");
    }
  }

  private static Number bounded(Number result) {
    if (result instanceof BigInteger integer && integer.bitLength() > MAX_BITS) {
      throw new InvalidRequestException(
          "A number has more than " + MAX_BITS + " bits; blocks calculate with smaller numbers.");
    }
    return result;
  }

  private static ByteBuffer with(NumberType<?> type, Number left, char operator, Number right) {
    return switch (operator) {
      case '+' -> type.add(left, right);
      case '-' -> type.substract(left, right);
      case '*' -> type.multiply(left, right);
      case '/' -> type.divide(left, right);
      case '%' -> type.mod(left, right);
      default -> throw new AssertionError(operator);
    };
  }

  private static BigInteger exact(BigInteger left, char operator, BigInteger right) {
    return switch (operator) {
      case '+' -> left.add(right);
      case '-' -> left.subtract(right);
      case '*' -> left.multiply(right);
      case '/' -> left.divide(right);
      case '%' -> left.remainder(right);
      default -> throw new AssertionError(operator);
    };
  }

  static Number negative(Number of) {
    return of instanceof Double number ? -number : calculate(BigInteger.ZERO, '-', of);
  }

  /** Compares by value, also numbers of different types. */
  static int compare(Number left, Number right) {
    if (left instanceof Double one && right instanceof Double other) {
      return Double.compare(one, other);
    }
    if (isInfinite(left) || isInfinite(right)) {
      return isInfinite(left) ? side(left) : -side(right);
    }
    return decimal(left).compareTo(decimal(right));
  }

  private static boolean isInfinite(Number number) {
    return number instanceof Double fraction && !Double.isFinite(fraction);
  }

  /** On which side of all numbers it is; NaN is above them. */
  private static int side(Number infinite) {
    return infinite.doubleValue() == Double.NEGATIVE_INFINITY ? -1 : 1;
  }

  private static BigDecimal decimal(Number number) {
    if (number instanceof BigInteger integer) {
      return new BigDecimal(integer);
    }
    return number instanceof Double fraction ? new BigDecimal(fraction) : (BigDecimal) number;
  }

  /**
   * The bytes of a number in a column.
   *
   * @throws InvalidRequestException if the column can't have it
   */
  static ByteBuffer bytes(Number number, ColumnSpecification column) {
    NumberType<?> type = (NumberType<?>) column.type.unwrap();
    if (!(type instanceof DecimalType)) {
      requireBounded(number);
    }
    if (type instanceof DoubleType || type instanceof FloatType) {
      return fraction(number, type, column);
    }
    if (isInfinite(number)) {
      throw doesNotFit(number, column);
    }
    if (type instanceof DecimalType) {
      BigDecimal decimal =
          number instanceof Double fraction ? BigDecimal.valueOf(fraction) : decimal(number);
      return DecimalType.instance.decompose(decimal);
    }
    BigInteger integer = integer(decimal(number), number, column);
    if (type instanceof IntegerType) {
      return IntegerType.instance.decompose(integer);
    }
    try {
      if (type instanceof LongType) {
        return LongType.instance.decompose(integer.longValueExact());
      } else if (type instanceof Int32Type) {
        return Int32Type.instance.decompose(integer.intValueExact());
      } else if (type instanceof ShortType) {
        return ShortType.instance.decompose(integer.shortValueExact());
      } else if (type instanceof ByteType) {
        return ByteType.instance.decompose(integer.byteValueExact());
      }
    } catch (ArithmeticException e) {
      throw doesNotFit(number, column);
    }
    throw new InvalidRequestException(
        "The column " + column.name + " of type " + type.asCQL3Type() + " can't be calculated.");
  }

  private static ByteBuffer fraction(
      Number number, NumberType<?> type, ColumnSpecification column) {
    boolean isFloat = type instanceof FloatType;
    double value = isFloat ? number.floatValue() : number.doubleValue();
    if (Double.isInfinite(value) && !isInfinite(number)) {
      throw doesNotFit(number, column);
    }
    return isFloat
        ? FloatType.instance.decompose((float) value)
        : DoubleType.instance.decompose(value);
  }

  private static BigInteger integer(BigDecimal decimal, Number number, ColumnSpecification column) {
    try {
      return decimal.toBigIntegerExact();
    } catch (ArithmeticException e) {
      throw doesNotFit(number, column);
    }
  }

  private static InvalidRequestException doesNotFit(Number number, ColumnSpecification column) {
    return new InvalidRequestException(
        "The value "
            + number
            + " does not fit the column "
            + column.name
            + " of type "
            + column.type.asCQL3Type()
            + ".");
  }
}
