// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import io.isolde.block.BlockTokens.Kind;
import io.isolde.block.BlockTokens.Part;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Reads a statement of a block up to its end. Expressions with columns of LETs become markers; all
 * else is left to Cassandra's parser.
 */
final class StatementReader {
  private static final Set<String> BEFORE_TABLES = Set.of("FROM", "INTO", "UPDATE");
  private static final Set<String> OPERATORS = Set.of("+", "-", "*", "/", "%");

  /** After these, parentheses may stand around one expression. */
  private static final Set<String> BEFORE_VALUES =
      Set.of(
          "=", "+=", "-=", "<", ">", "<=", ">=", "!=", "+", "-", "*", "/", "%", "(", ",", "[", ":");

  private final BlockTokens tokens;
  private final ExpressionParser expressions;
  private final StringBuilder cql = new StringBuilder();
  private final List<Expression> values = new ArrayList<>();

  /** Where the text begins that is not copied yet. */
  private int copied;

  /** The brackets that are open; true for those of a collection. */
  private final Deque<Boolean> open = new ArrayDeque<>();

  /** Whether columns of LETs are looked for: not among columns and tables. */
  private boolean isAmongValues;

  /** Whether assignments stand here. */
  private boolean isInSet;

  /** Whether an assignment's left side stands here. */
  private boolean isBeforeAssignment;

  private StatementReader(BlockTokens tokens, Set<String> rows) {
    this.tokens = tokens;
    this.expressions = new ExpressionParser(tokens, rows);
  }

  /**
   * Reads a statement; stops in front of its end.
   *
   * @param end the symbol that ends it, outside of brackets
   * @param rows the names of LETs that it may refer to
   */
  static StatementText read(BlockTokens tokens, String end, Set<String> rows) {
    return new StatementReader(tokens, rows).read(end);
  }

  private StatementText read(String end) {
    copied = tokens.peek().start();
    isAmongValues = tokens.peek().isWord("UPDATE");
    while (!open.isEmpty() || !tokens.peek().isSymbol(end)) {
      if (tokens.peek().kind() == Kind.END) {
        throw tokens.expected("'" + end + "' at the end of a statement");
      }
      if (tokens.peek().isWord("BEGIN")) {
        throw tokens.wrong("a batch can't be part of a block, which is one itself");
      }
      if (!readExpression()) {
        readToken();
      }
    }
    copyUpTo(Math.max(copied, tokens.last().end()));
    return new StatementText(cql.toString(), List.copyOf(values));
  }

  private void copyUpTo(int end) {
    cql.append(tokens.source(copied, end));
    copied = end;
  }

  private void readToken() {
    Part before = tokens.last();
    Part part = tokens.take();
    switch (part.text()) {
      case "(" -> open.push(false);
      case "[" -> open.push(!before.isName()); // Behind a name it is an index.
      case "{" -> open.push(!isOfFields());
      case ")", "]", "}" -> open.poll();
      case "=", "+=", "-=" -> isBeforeAssignment = false;
      case "," -> isBeforeAssignment |= open.isEmpty() && isInSet;
      default -> {
        // Nothing to remember.
      }
    }
    if (open.isEmpty()) {
      isAmongValues |= part.isWord("FROM") || part.isWord("VALUES") || part.isWord("JSON");
      isInSet = (isInSet || part.isWord("SET")) && !part.isWord("WHERE");
      isBeforeAssignment = (isBeforeAssignment || part.isWord("SET")) && isInSet;
    }
    if (part.kind() == Kind.MARKER) {
      values.add(new Expression.Marker(part.marker()));
    }
  }

  /** Reads an expression, if one begins here that has to do with a LET. */
  private boolean readExpression() {
    if (!isAmongValues || (isBeforeAssignment && open.isEmpty()) || isTable()) {
      return false;
    }
    requireKnownRow();
    boolean needsOperator = tokens.peek().isSymbol("(") || tokens.peek().text().startsWith("-");
    if (needsOperator && !BEFORE_VALUES.contains(tokens.last().text())) {
      return false; // A list, or the minus of a subtraction.
    }
    Part before = tokens.last();
    int place = tokens.place();
    int start = tokens.peek().start();
    Expression expression = expressions.parseIfThere();
    if (expression == null) {
      return false;
    }
    if (!expression.reads()) {
      int end = tokens.place();
      tokens.backTo(place);
      while (tokens.place() < end) {
        readToken();
      }
      return true;
    }
    if (open.contains(true)) {
      throw tokens.wrong(
          "a column of a LET's row can't stand in a list, a set or a map, as no marker can; set an"
              + " element, or the column of a whole collection");
    }
    requireAlone(expression, before, isInParentheses(place));
    copyUpTo(start);
    cql.append('?');
    copied = tokens.last().end();
    values.add(expression);
    return true;
  }

  /** Whether a value of a user-defined type begins behind the brace: names and their values. */
  private boolean isOfFields() {
    return tokens.peek().isName() && tokens.peek(1).isSymbol(":");
  }

  /** Whether parentheses stand around all that was read since a place. */
  private boolean isInParentheses(int place) {
    int end = tokens.place();
    int opened = 0;
    tokens.backTo(place);
    boolean isAround = true;
    while (tokens.place() < end) {
      Part part = tokens.take();
      opened += part.isSymbol("(") ? 1 : part.isSymbol(")") ? -1 : 0;
      isAround &= opened > 0 || tokens.place() == end;
    }
    return isAround;
  }

  private boolean isTable() {
    Part before = tokens.last();
    return before.kind() == Kind.WORD
        && BEFORE_TABLES.contains(before.text().toUpperCase(Locale.ROOT));
  }

  private void requireKnownRow() {
    boolean isAfterPoint = tokens.last().isSymbol(".");
    boolean isType = tokens.last().isSymbol("(") && tokens.peek(3).isSymbol(")");
    if (!isAfterPoint && !isType && expressions.isQualifiedName() && !expressions.isReference()) {
      throw tokens.wrong(
          "no LET before it has the name "
              + tokens.peek().text()
              + ", of which "
              + tokens.peek(2).text()
              + " is to be a column");
    }
  }

  /**
   * A column of the statement's own table can be the other side of one addition or subtraction, as
   * in Cassandra.
   */
  private void requireAlone(Expression expression, Part before, boolean isInParentheses) {
    boolean isSum =
        expression instanceof Expression.Arithmetic made && made.isSum() && !isInParentheses;
    Part after = tokens.peek();
    boolean isAfterColumn = before.kind() == Kind.SYMBOL && OPERATORS.contains(before.text());
    boolean isRightOfColumn =
        before.isSymbol("+") || (before.isSymbol("-") && !isSum) || !isAfterColumn;
    boolean isBeforeColumn = after.kind() == Kind.SYMBOL && OPERATORS.contains(after.text());
    boolean isLeftOfColumn = !isBeforeColumn || (after.isSymbol("+") && !isSum && !isAfterColumn);
    if (!isRightOfColumn || !isLeftOfColumn) {
      throw tokens.wrong(
          "of columns of the table itself, only column = column + value and column - value can be"
              + " calculated; read the column by a LET and use name.column");
    }
  }
}
