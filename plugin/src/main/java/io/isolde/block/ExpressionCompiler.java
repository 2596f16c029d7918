// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import io.isolde.error.IsoldeException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.apache.cassandra.cql3.CQLFragmentParser;
import org.apache.cassandra.cql3.ColumnIdentifier;
import org.apache.cassandra.cql3.ColumnSpecification;
import org.apache.cassandra.cql3.CqlParser;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.Term;
import org.apache.cassandra.cql3.VariableSpecifications;
import org.apache.cassandra.cql3.functions.Function;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.CounterColumnType;
import org.apache.cassandra.db.marshal.IntegerType;
import org.apache.cassandra.db.marshal.NumberType;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.serializers.MarshalException;
import org.apache.cassandra.utils.ByteBufferUtil;

/** Gives expressions and conditions their types, so that they can be calculated again and again. */
final class ExpressionCompiler {
  /** What a value is calculated to; null for null. */
  interface Computation {
    ByteBuffer at(BlockMoment moment);
  }

  /** What a number is calculated to; null for null. */
  private interface Calculation {
    Number at(BlockMoment moment);
  }

  /**
   * The rows of a LET.
   *
   * @param number among the LETs of the block
   */
  private record Source(int number, List<ColumnSpecification> columns) {}

  private final Map<String, Source> sources = new HashMap<>();
  private final List<String> names;
  private final ColumnSpecification[] variables;

  /** Those that are called outside of statements. */
  private final List<Function> functions = new ArrayList<>();

  /**
   * @param names of the block's markers
   */
  ExpressionCompiler(List<String> names) {
    this.names = names;
    this.variables = new ColumnSpecification[names.size()];
  }

  /** Makes the row of a LET known; returns its number. */
  int add(String name, List<ColumnSpecification> columns) {
    int number = sources.size();
    sources.put(name, new Source(number, columns));
    return number;
  }

  int lets() {
    return sources.size();
  }

  /** What the client binds; complete when all of the block is compiled. */
  List<ColumnSpecification> variables() {
    return List.of(variables);
  }

  List<Function> functions() {
    return functions;
  }

  /**
   * A marker that stands for itself.
   *
   * @param as what Cassandra makes of it
   */
  private Computation variable(int number, ColumnSpecification as) {
    String name = names.get(number);
    variables[number] = name == null ? as : renamed(as, name);
    return moment -> validated(moment.bound(number), as);
  }

  /** Drivers bind what they like; Cassandra's own markers check it, too. */
  private static ByteBuffer validated(ByteBuffer bound, ColumnSpecification as) {
    if (bound != null && !isUnset(bound)) {
      try {
        as.type.validate(bound);
      } catch (MarshalException e) {
        throw new InvalidRequestException(
            "The value that is bound for " + as.name + " is wrong: " + e.getMessage());
      }
    }
    return bound;
  }

  private static ColumnSpecification renamed(ColumnSpecification of, String name) {
    return new ColumnSpecification(of.ksName, of.cfName, new ColumnIdentifier(name, true), of.type);
  }

  /**
   * A value for a column or another place.
   *
   * @throws InvalidRequestException if the types do not fit
   */
  Computation compile(Expression expression, ColumnSpecification receiver) {
    if (expression instanceof Expression.Marker marker) {
      return variable(marker.number(), receiver);
    }
    if (expression instanceof Expression.Constant constant) {
      return term(constant, receiver);
    }
    if (expression instanceof Expression.Reference reference) {
      return reference(reference, receiver);
    }
    if (expression instanceof Expression.Written written && !isNumber(receiver.type)) {
      return term(new Expression.Constant(written.number().toString(), -1, List.of()), receiver);
    }
    if (!isNumber(receiver.type)) {
      throw IsoldeException.invalid(
          "BEGIN TRANSACTION: "
              + receiver.name
              + " of type "
              + receiver.type.asCQL3Type()
              + " is no number, and nothing else can be calculated.");
    }
    Calculation number = number(expression, receiver);
    return moment -> {
      Number result = number.at(moment);
      return result == null ? null : ExactNumbers.bytes(result, receiver);
    };
  }

  private Computation reference(Expression.Reference reference, ColumnSpecification receiver) {
    ReferenceValue value = value(reference);
    AbstractType<?> type = value.type();
    AbstractType<?> wanted = receiver.type.unwrap();
    if (isNumber(type) && isNumber(wanted) && !type.equals(wanted)) {
      Calculation number = numberOf(value, type);
      return moment -> {
        Number found = number.at(moment);
        return found == null ? null : ExactNumbers.bytes(found, receiver);
      };
    }
    boolean isAssignable =
        type.testAssignment(wanted).isAssignable()
            || type.freeze().testAssignment(wanted.freeze()).isAssignable();
    boolean isSame = type.freeze().equals(wanted.freeze());
    if (isSame || (isAssignable && !hasVarint(wanted))) { // A varint takes more, of other bytes.
      return value::at;
    }
    throw IsoldeException.invalid(
        "BEGIN TRANSACTION: "
            + reference.text()
            + " is of type "
            + type.asCQL3Type()
            + ", and "
            + receiver.name
            + " of type "
            + receiver.type.asCQL3Type()
            + ".");
  }

  private static boolean hasVarint(AbstractType<?> type) {
    return type instanceof IntegerType
        || type.subTypes().stream().anyMatch(ExpressionCompiler::hasVarint);
  }

  private static boolean isNumber(AbstractType<?> type) {
    return type.unwrap() instanceof NumberType<?> && !(type.unwrap() instanceof CounterColumnType);
  }

  private Computation term(Expression.Constant constant, ColumnSpecification receiver) {
    Term term =
        CQLFragmentParser.parseAny(CqlParser::term, constant.text(), "value")
            .prepare(receiver.ksName, receiver);
    term.addFunctionsTo(functions);
    int count = constant.markers().size();
    int first = constant.firstMarker();
    if (count == 0) {
      return moment -> term.bindAndGet(moment.options());
    }
    List<ColumnIdentifier> identifiers = new ArrayList<>();
    constant
        .markers()
        .forEach(name -> identifiers.add(name == null ? null : new ColumnIdentifier(name, true)));
    VariableSpecifications own = new VariableSpecifications(identifiers);
    term.collectMarkerSpecification(own);
    for (int i = 0; i < count; i++) {
      variables[first + i] = own.getBindVariables().get(i);
    }
    return moment ->
        term.bindAndGet(
            QueryOptions.forInternalCalls(
                moment.options().getValues().subList(first, first + count)));
  }

  /** A reference, with the type of what it refers to. */
  private ReferenceValue value(Expression.Reference reference) {
    Source source = sources.get(reference.row());
    List<ColumnSpecification> columns = source.columns();
    for (int i = 0; i < columns.size(); i++) {
      if (columns.get(i).name.toString().equals(reference.column())) {
        ReferenceValue value =
            ReferenceValue.ofColumn(source.number(), i, columns.get(i).type.unwrap());
        return part(value, reference, columns.get(i));
      }
    }
    throw IsoldeException.invalid(
        "BEGIN TRANSACTION: "
            + reference.text()
            + ": the LET "
            + reference.row()
            + " selects no column "
            + reference.column()
            + ".");
  }

  private ReferenceValue part(
      ReferenceValue of, Expression.Reference reference, ColumnSpecification column) {
    ReferenceValue value = of;
    for (Expression.Part part : reference.path()) {
      ReferenceValue whole = value;
      if (part instanceof Expression.Part.Field field) {
        value = whole.field(field.name(), reference.text());
      } else {
        Expression key = ((Expression.Part.Element) part).key();
        ColumnSpecification keySpec =
            new ColumnSpecification(
                column.ksName,
                column.cfName,
                new ColumnIdentifier("key(" + column.name + ")", true),
                whole.keyType(reference.text()));
        Computation at = compile(key, keySpec);
        value =
            whole.element(
                moment -> {
                  ByteBuffer found = at.at(moment);
                  requireSet(found);
                  return found;
                });
      }
    }
    return value;
  }

  /** The column of a result that shows a reference. */
  ColumnSpecification column(Expression.Reference reference, String name) {
    ColumnSpecification first = sources.get(reference.row()).columns().get(0);
    return new ColumnSpecification(
        first.ksName, first.cfName, new ColumnIdentifier(name, true), value(reference).type());
  }

  /** The value of a reference as it is. */
  Computation compile(Expression.Reference reference) {
    return value(reference)::at;
  }

  /**
   * A number.
   *
   * @param like what markers and constants in it are
   */
  private Calculation number(Expression expression, ColumnSpecification like) {
    NumberType<?> type = (NumberType<?>) like.type.unwrap();
    if (expression instanceof Expression.Written written) {
      Number number = ExactNumbers.written(written.number(), type);
      return moment -> number;
    }
    if (expression instanceof Expression.Negative negative) {
      Calculation of = number(negative.of(), like);
      return moment -> {
        Number number = of.at(moment);
        return number == null ? null : ExactNumbers.negative(number);
      };
    }
    if (expression instanceof Expression.Arithmetic arithmetic) {
      Calculation left = number(arithmetic.left(), like);
      Calculation right = number(arithmetic.right(), like);
      return moment -> {
        Number one = left.at(moment);
        Number other = right.at(moment);
        return one == null || other == null
            ? null
            : ExactNumbers.calculate(one, arithmetic.operator(), other);
      };
    }
    if (expression instanceof Expression.Reference reference) {
      ReferenceValue value = value(reference);
      if (!isNumber(value.type())) {
        throw IsoldeException.invalid(
            "BEGIN TRANSACTION: "
                + reference.text()
                + " of type "
                + value.type().asCQL3Type()
                + " is no number.");
      }
      return numberOf(value, value.type());
    }
    return numberOf(compile(expression, like), type);
  }

  private static Calculation numberOf(ReferenceValue value, AbstractType<?> type) {
    return numberOf((Computation) value::at, type);
  }

  private static Calculation numberOf(Computation value, AbstractType<?> type) {
    NumberType<?> numbers = (NumberType<?>) type;
    return moment -> {
      ByteBuffer bytes = value.at(moment);
      requireSet(bytes);
      return bytes == null || !bytes.hasRemaining()
          ? null
          : ExactNumbers.of((Number) numbers.compose(bytes));
    };
  }

  @SuppressWarnings("ReferenceEquality") // UNSET is this very buffer
  private static boolean isUnset(ByteBuffer bytes) {
    return bytes == ByteBufferUtil.UNSET_BYTE_BUFFER;
  }

  private static void requireSet(ByteBuffer bytes) {
    if (isUnset(bytes)) {
      throw new InvalidRequestException(
          "A marker that is calculated or compared with has no value (unset).");
    }
  }

  /** Whether a condition holds. */
  Predicate<BlockMoment> compile(Condition condition) {
    if (condition instanceof Condition.And and) {
      return compile(and.left()).and(compile(and.right()));
    }
    if (condition instanceof Condition.Or or) {
      return compile(or.left()).or(compile(or.right()));
    }
    if (condition instanceof Condition.Not not) {
      return compile(not.of()).negate();
    }
    if (condition instanceof Condition.NoRow noRow) {
      int number = sources.get(noRow.row()).number();
      return moment -> moment.row(number) == null;
    }
    if (condition instanceof Condition.IsNull isNull) {
      ReferenceValue value = value(isNull.of());
      return moment -> value.isNull(value.at(moment));
    }
    return comparison((Condition.Comparison) condition);
  }

  private Predicate<BlockMoment> comparison(Condition.Comparison comparison) {
    Expression.Reference first = comparison.left().firstReference();
    Expression.Reference reference = first != null ? first : comparison.right().firstReference();
    ColumnSpecification like = column(reference, reference.text());
    Condition.Relation relation = comparison.relation();
    if (isNumber(like.type)) {
      Calculation left = number(comparison.left(), like);
      Calculation right = number(comparison.right(), like);
      return moment -> {
        Number one = left.at(moment);
        Number other = right.at(moment);
        return one != null && other != null && relation.holds(ExactNumbers.compare(one, other));
      };
    }
    boolean isOrdered =
        relation != Condition.Relation.EQUAL && relation != Condition.Relation.UNEQUAL;
    if (isOrdered && like.type.referencesDuration()) {
      throw IsoldeException.invalid(
          "BEGIN TRANSACTION: durations such as "
              + reference.text()
              + " have no order; compare them with = or !=.");
    }
    AbstractType<?> type = like.type.unwrap();
    Computation left = compile(comparison.left(), like);
    Computation right = compile(comparison.right(), like);
    return moment -> {
      ByteBuffer one = left.at(moment);
      ByteBuffer other = right.at(moment);
      requireSet(one);
      requireSet(other);
      return !type.isNull(one) && !type.isNull(other) && relation.holds(type.compare(one, other));
    };
  }
}
