// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import java.math.BigDecimal;
import java.util.List;

/** What a value of a block is made of. */
sealed interface Expression {

  /** A number as it was written. */
  record Written(BigDecimal number) implements Expression {}

  /**
   * A term that Cassandra understands: a constant, a collection, or a call of a function.
   *
   * @param firstMarker the number of its first marker among those of the block
   * @param markers the names of its markers, null for each without a name
   */
  record Constant(String text, int firstMarker, List<String> markers) implements Expression {}

  /**
   * A value that the client binds.
   *
   * @param number among the markers of the block
   */
  record Marker(int number) implements Expression {}

  /**
   * A column of a LET's row, or a part of its value.
   *
   * @param row the name of the LET
   * @param text as it was written
   */
  record Reference(String row, String column, List<Part> path, String text) implements Expression {}

  /** Two numbers. */
  record Arithmetic(char operator, Expression left, Expression right) implements Expression {
    boolean isSum() {
      return operator == '+' || operator == '-';
    }
  }

  /** The negative of a number. */
  record Negative(Expression of) implements Expression {}

  /** A part of a value. */
  sealed interface Part {
    /** A field of a user-defined type. */
    record Field(String name) implements Part {}

    /** An element of a collection: the value of a key, at an index, or itself in a set. */
    record Element(Expression key) implements Part {}
  }

  /** Whether its value depends on what was read. */
  default boolean reads() {
    if (this instanceof Arithmetic arithmetic) {
      return arithmetic.left.reads() || arithmetic.right.reads();
    }
    return this instanceof Reference || (this instanceof Negative negative && negative.of.reads());
  }

  /** Its first reference; null if it has none. */
  default Reference firstReference() {
    if (this instanceof Reference reference) {
      return reference;
    }
    if (this instanceof Negative negative) {
      return negative.of.firstReference();
    }
    if (this instanceof Arithmetic arithmetic) {
      Reference left = arithmetic.left.firstReference();
      return left != null ? left : arithmetic.right.firstReference();
    }
    return null;
  }
}
