// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

/** What an IF asks. A comparison with null does not hold, whichever it is. */
sealed interface Condition {

  /** Both hold. */
  record And(Condition left, Condition right) implements Condition {}

  /** One of the two holds, or both do. */
  record Or(Condition left, Condition right) implements Condition {}

  /** It does not hold. */
  record Not(Condition of) implements Condition {}

  /** A LET has found no row. */
  record NoRow(String row) implements Condition {}

  /** A value is null. */
  record IsNull(Expression.Reference of) implements Condition {}

  /** Two values are in a relation. */
  record Comparison(Expression left, Relation relation, Expression right) implements Condition {}

  /** How two values compare. */
  enum Relation {
    EQUAL,
    UNEQUAL,
    LESS,
    AT_MOST,
    GREATER,
    AT_LEAST;

    /**
     * Whether it holds.
     *
     * @param comparison negative, zero or positive, as a comparator says
     */
    boolean holds(int comparison) {
      return switch (this) {
        case EQUAL -> comparison == 0;
        case UNEQUAL -> comparison != 0;
        case LESS -> comparison < 0;
        case AT_MOST -> comparison <= 0;
        case GREATER -> comparison > 0;
        case AT_LEAST -> comparison >= 0;
      };
    }
  }
}
