// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.testing.Seeds;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.apache.cassandra.cql3.ColumnIdentifier;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ExactNumbersTest {
  private static final List<NumberType<?>> INTEGERS =
      List.of(ByteType.instance, ShortType.instance, Int32Type.instance, LongType.instance);
  private static final int ROUNDS = 1_000;

  private static ColumnSpecification column(NumberType<?> type) {
    return new ColumnSpecification("k", "t", new ColumnIdentifier("v", true), type);
  }

  private static Number stored(Number number, NumberType<?> type) {
    return (Number) type.compose(ExactNumbers.bytes(number, column(type)));
  }

  private static LongStream seeds() {
    return Seeds.fixedAndFresh(5);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void integersAreExactOrRefusedWhateverTheirWidth(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < ROUNDS; i++) {
      int width = random.nextInt(INTEGERS.size());
      NumberType<?> type = INTEGERS.get(width);
      int bits = Byte.SIZE << width;
      BigInteger left = new BigInteger(bits, random).subtract(BigInteger.ONE.shiftLeft(bits - 1));
      BigInteger right = new BigInteger(random.nextInt(bits) + 1, random);
      BigInteger sum = left.add(right);
      Number calculated = ExactNumbers.calculate(left, '+', right);
      assertThat(calculated).isEqualTo(sum);
      if (sum.bitLength() < bits) {
        assertThat(stored(calculated, type).longValue()).isEqualTo(sum.longValue());
      } else {
        assertThatThrownBy(() -> stored(calculated, type))
            .isInstanceOf(InvalidRequestException.class);
      }
    }
  }

  @Test
  void aFractionMakesAFraction() {
    assertThat(ExactNumbers.calculate(BigInteger.TWO, '*', 0.5)).isEqualTo(1.0);
    assertThat(ExactNumbers.calculate(new BigDecimal("0.1"), '+', BigInteger.TWO))
        .isEqualTo(new BigDecimal("2.1"));
    assertThat(ExactNumbers.calculate(BigInteger.valueOf(7), '/', BigInteger.TWO))
        .isEqualTo(BigInteger.valueOf(3));
    assertThat(ExactNumbers.calculate(BigInteger.valueOf(-7), '%', BigInteger.TWO))
        .isEqualTo(BigInteger.valueOf(-1));
  }

  @Test
  void whatDoesNotFitIsRefused() {
    for (NumberType<?> type : INTEGERS) {
      for (Number number :
          List.of(new BigDecimal("0.5"), 0.5, Double.NaN, new BigDecimal("1e900"))) {
        assertThatThrownBy(() -> stored(number, type)).isInstanceOf(InvalidRequestException.class);
      }
      assertThat(stored(2.0, type).intValue()).isEqualTo(2);
    }
    BigInteger large = BigInteger.TEN.pow(400);
    assertThat(stored(large, IntegerType.instance)).isEqualTo(large);
    assertThat(stored(large, DecimalType.instance)).isEqualTo(new BigDecimal(large));
    assertThatThrownBy(() -> stored(large, DoubleType.instance))
        .isInstanceOf(InvalidRequestException.class);
    assertThatThrownBy(() -> stored(1e300, FloatType.instance))
        .isInstanceOf(InvalidRequestException.class);
    assertThat(stored(Double.POSITIVE_INFINITY, FloatType.instance))
        .isEqualTo(Float.POSITIVE_INFINITY);
  }

  /** Its digits would not fit into memory. */
  @Test
  void hugeDecimalsAreOnlyCopied() {
    for (String text : List.of("1e-500000000", "1e500000000")) {
      BigDecimal huge = new BigDecimal(text);
      assertThat(stored(huge, DecimalType.instance)).isEqualTo(huge);
      for (NumberType<?> type :
          List.of(LongType.instance, IntegerType.instance, DoubleType.instance)) {
        assertThatThrownBy(() -> stored(huge, type)).isInstanceOf(InvalidRequestException.class);
      }
      assertThatThrownBy(() -> ExactNumbers.calculate(huge, '%', BigInteger.TWO))
          .isInstanceOf(InvalidRequestException.class);
    }
  }

  @Test
  void divisionByZeroIsAnErrorButForFractions() {
    assertThatThrownBy(() -> ExactNumbers.calculate(BigInteger.ONE, '/', BigInteger.ZERO))
        .isInstanceOf(InvalidRequestException.class);
    assertThatThrownBy(() -> ExactNumbers.calculate(BigDecimal.ONE, '/', BigInteger.ZERO))
        .isInstanceOf(InvalidRequestException.class);
    assertThat(ExactNumbers.calculate(1.0, '/', BigInteger.ZERO))
        .isEqualTo(Double.POSITIVE_INFINITY);
  }

  @Test
  void numbersDoNotGrowWithoutBound() {
    Number number = BigInteger.TWO;
    assertThatThrownBy(
            () -> {
              Number grown = number;
              while (true) {
                grown = ExactNumbers.calculate(grown, '*', grown);
              }
            })
        .isInstanceOf(InvalidRequestException.class);
  }

  @Test
  void numbersCompareByValue() {
    List<Number> ascending =
        List.of(
            Double.NEGATIVE_INFINITY,
            BigInteger.TEN.pow(400).negate(),
            -1.5,
            BigInteger.ZERO,
            new BigDecimal("0.1"),
            0.1, // A little more than a tenth.
            BigInteger.ONE,
            BigInteger.valueOf(1L << 53),
            BigInteger.valueOf((1L << 53) + 1),
            Double.POSITIVE_INFINITY,
            Double.NaN);
    for (int i = 0; i < ascending.size(); i++) {
      for (int j = 0; j < ascending.size(); j++) {
        assertThat(Integer.signum(ExactNumbers.compare(ascending.get(i), ascending.get(j))))
            .as("%s, %s", ascending.get(i), ascending.get(j))
            .isEqualTo(Integer.compare(i, j));
      }
    }
  }

  @Test
  void writtenNumbersAreAsInTheColumn() {
    BigDecimal tenth = new BigDecimal("0.1");
    assertThat(ExactNumbers.written(tenth, FloatType.instance)).isEqualTo(ExactNumbers.of(0.1f));
    assertThat(ExactNumbers.written(tenth, DoubleType.instance)).isEqualTo(0.1);
    assertThat(ExactNumbers.written(tenth, Int32Type.instance)).isEqualTo(tenth);
    assertThat(ExactNumbers.written(new BigDecimal("1e2"), Int32Type.instance))
        .isEqualTo(BigInteger.valueOf(100));
  }
}
