// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import io.isolde.block.BlockTokens.Kind;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/** Reads expressions and conditions of a block. */
final class ExpressionParser {
  /** Of parentheses and indexes in one another, and of NOT. */
  private static final int MAX_DEPTH = 50;

  /** Of arithmetic, and between conditions. */
  private static final int MAX_OPERATORS = 500;

  /** Digits in front of and behind the point. */
  private static final int MAX_DIGITS = 1000;

  private final BlockTokens tokens;

  /** The names of the LETs that can be used here. */
  private final Set<String> rows;

  private int depth;

  private int operators;

  ExpressionParser(BlockTokens tokens, Set<String> rows) {
    this.tokens = tokens;
    this.rows = rows;
  }

  /**
   * Reads as much as is an expression of numbers, markers and references.
   *
   * @return null if none begins here; then the tokens are where they were
   */
  Expression parseIfThere() {
    int place = tokens.place();
    operators = 0;
    Expression found = sum();
    if (found == null) {
      tokens.backTo(place);
    }
    return found;
  }

  private Expression sum() {
    Expression left = product();
    while (left != null) {
      int place = tokens.place();
      boolean isSigned = isNegativeNumber();
      char operator = isSigned ? '+' : operator("+", "-");
      Expression right = operator == 0 ? null : product();
      if (right == null) {
        tokens.backTo(place);
        return left;
      }
      left = arithmetic(left, operator, right);
    }
    return null;
  }

  private Expression arithmetic(Expression left, char operator, Expression right) {
    count();
    return new Expression.Arithmetic(operator, left, right);
  }

  /** Trees are as deep as they have operators. */
  private void count() {
    if (++operators > MAX_OPERATORS) {
      throw tokens.wrong("more than " + MAX_OPERATORS + " operators in one expression");
    }
  }

  /** For the lexer, {@code a.v -1} ends with a number. */
  private boolean isNegativeNumber() {
    return tokens.peek().kind() == Kind.NUMBER && tokens.peek().text().startsWith("-");
  }

  private Expression product() {
    Expression left = factor();
    while (left != null) {
      int place = tokens.place();
      char operator = operator("*", "/", "%");
      Expression right = operator == 0 ? null : factor();
      if (right == null) {
        tokens.backTo(place);
        return left;
      }
      left = arithmetic(left, operator, right);
    }
    return null;
  }

  /** Takes one of them; 0 if none stands here. */
  private char operator(String... symbols) {
    for (String symbol : symbols) {
      if (tokens.takeIfSymbol(symbol)) {
        return symbol.charAt(0);
      }
    }
    return 0;
  }

  private Expression factor() {
    if (!tokens.takeIfSymbol("-")) {
      return operand();
    }
    Expression of = deeper(this::factor);
    return of == null ? null : new Expression.Negative(of);
  }

  private Expression operand() {
    BlockTokens.Part next = tokens.peek();
    if (next.kind() == Kind.NUMBER) {
      return new Expression.Written(number());
    }
    if (next.kind() == Kind.MARKER) {
      return new Expression.Marker(tokens.take().marker());
    }
    if (next.isSymbol("(")) {
      tokens.take();
      Expression inner = deeper(this::sum);
      return inner != null && tokens.takeIfSymbol(")") ? inner : null;
    }
    return isReference() ? reference() : null;
  }

  private BigDecimal number() {
    String text = tokens.peek().text();
    BigDecimal number = text.length() > 2 * MAX_DIGITS ? null : new BigDecimal(text);
    if (number == null
        || Math.abs((long) number.scale()) > MAX_DIGITS
        || number.precision() > MAX_DIGITS) {
      throw tokens.wrong("a number has more than " + MAX_DIGITS + " digits");
    }
    tokens.take();
    return number;
  }

  private <T> T deeper(Supplier<T> parse) {
    if (++depth > MAX_DEPTH) {
      throw tokens.wrong("more than " + MAX_DEPTH + " parentheses in one another");
    }
    T parsed = parse.get();
    depth--;
    return parsed;
  }

  /** Whether a column of a row begins here. A name, a point and a name may also be a function. */
  boolean isReference() {
    return isQualifiedName() && rows.contains(tokens.peek().name());
  }

  /** Whether a name, a point and a name stand here that are no function. */
  boolean isQualifiedName() {
    return tokens.peek().isName()
        && tokens.peek(1).isSymbol(".")
        && tokens.peek(2).isName()
        && !tokens.peek(3).isSymbol("(");
  }

  /** Reads a reference, which is there. */
  Expression.Reference reference() {
    int start = tokens.peek().start();
    String row = tokens.take().name();
    tokens.expectSymbol(".");
    String column = tokens.take().name();
    List<Expression.Part> path = new ArrayList<>();
    while (true) {
      if (tokens.peek().isSymbol(".") && tokens.peek(1).isName()) {
        tokens.take();
        path.add(new Expression.Part.Field(tokens.take().name()));
      } else if (tokens.takeIfSymbol("[")) {
        path.add(new Expression.Part.Element(deeper(this::value)));
        tokens.expectSymbol("]");
      } else {
        String text = tokens.source(start, tokens.last().end());
        return new Expression.Reference(row, column, List.copyOf(path), text);
      }
    }
  }

  /** Reads an expression, or a term that is Cassandra's. */
  private Expression value() {
    Expression found = parseIfThere();
    return found != null ? found : constant();
  }

  private Expression constant() {
    BlockTokens.Part first = tokens.peek();
    int place = tokens.place();
    if (first.kind() == Kind.CONSTANT) {
      tokens.take();
    } else if (first.isSymbol("(") || first.isSymbol("[") || first.isSymbol("{")) {
      skipBrackets();
    } else if (first.isName()) {
      tokens.take();
      if (tokens.takeIfSymbol(".")) {
        tokens.expectName("the name of a function");
      }
      if (!tokens.peek().isSymbol("(")) {
        tokens.backTo(place);
        throw tokens.wrong(
            first.text() + " is neither a value nor a column of a LET's row, as in name.column");
      }
      skipBrackets();
    } else {
      throw tokens.expected("a value");
    }
    return constant(place);
  }

  private Expression constant(int from) {
    int end = tokens.place();
    int endOfText = tokens.last().end();
    List<String> markers = new ArrayList<>();
    int firstMarker = -1;
    tokens.backTo(from);
    int start = tokens.peek().start();
    while (tokens.place() < end) {
      if (isReference()) {
        throw tokens.wrong(
            "in IF, a column of a LET's row can't stand in a function or a collection");
      }
      BlockTokens.Part part = tokens.take();
      if (part.kind() == Kind.MARKER) {
        firstMarker = markers.isEmpty() ? part.marker() : firstMarker;
        markers.add(tokens.markers().get(part.marker()));
      }
    }
    return new Expression.Constant(tokens.source(start, endOfText), firstMarker, markers);
  }

  /** To the end of what opens here. */
  private void skipBrackets() {
    int open = 0;
    do {
      BlockTokens.Part part = tokens.peek();
      if (part.kind() == Kind.END) {
        throw tokens.expected("the end of what is in brackets");
      }
      tokens.take();
      switch (part.text()) {
        case "(", "[", "{" -> open++;
        case ")", "]", "}" -> open--;
        default -> {
          // No bracket.
        }
      }
    } while (open > 0);
  }

  /** Reads a condition, which has to be there. */
  Condition condition() {
    Condition left = conjunction();
    while (tokens.takeIfWord("OR")) {
      count();
      left = new Condition.Or(left, conjunction());
    }
    return left;
  }

  private Condition conjunction() {
    Condition left = single();
    while (tokens.takeIfWord("AND")) {
      count();
      left = new Condition.And(left, single());
    }
    return left;
  }

  private Condition single() {
    if (tokens.takeIfWord("NOT")) {
      return new Condition.Not(deeper(this::single));
    }
    if (tokens.peek().isSymbol("(") && isConditionInParentheses()) {
      tokens.take();
      Condition inner = deeper(this::condition);
      tokens.expectSymbol(")");
      return inner;
    }
    return comparison();
  }

  /** What follows a value in parentheses is an operator. */
  private boolean isConditionInParentheses() {
    int place = tokens.place();
    skipBrackets();
    BlockTokens.Part after = tokens.peek();
    tokens.backTo(place);
    return after.isSymbol(")") || after.isWord("AND") || after.isWord("OR") || after.isWord("THEN");
  }

  private Condition comparison() {
    if (tokens.peek().isName()
        && rows.contains(tokens.peek().name())
        && tokens.peek(1).isWord("IS")) {
      String row = tokens.take().name();
      return unlessNot(new Condition.NoRow(row));
    }
    Expression left = value();
    if (tokens.peek().isWord("IS")) {
      if (!(left instanceof Expression.Reference reference)) {
        throw tokens.wrong("only a column of a LET's row can be asked for NULL");
      }
      return unlessNot(new Condition.IsNull(reference));
    }
    Condition.Relation relation = relation();
    Expression right = value();
    if (!left.reads() && !right.reads()) {
      throw tokens.wrong("a condition compares with a column of a LET's row");
    }
    return new Condition.Comparison(left, relation, right);
  }

  /** Reads IS NULL or IS NOT NULL. */
  private Condition unlessNot(Condition isNull) {
    tokens.expectWord("IS");
    boolean isNot = tokens.takeIfWord("NOT");
    if (!tokens.peek().text().equalsIgnoreCase("NULL")) {
      throw tokens.expected("NULL");
    }
    tokens.take();
    return isNot ? new Condition.Not(isNull) : isNull;
  }

  private Condition.Relation relation() {
    Condition.Relation relation =
        switch (tokens.peek().text()) {
          case "=" -> Condition.Relation.EQUAL;
          case "!=" -> Condition.Relation.UNEQUAL;
          case "<" -> Condition.Relation.LESS;
          case "<=" -> Condition.Relation.AT_MOST;
          case ">" -> Condition.Relation.GREATER;
          case ">=" -> Condition.Relation.AT_LEAST;
          default -> throw tokens.expected("=, !=, <, <=, >, >= or IS");
        };
    tokens.take();
    return relation;
  }
}
