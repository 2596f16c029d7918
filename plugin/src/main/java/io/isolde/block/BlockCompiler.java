// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import io.isolde.block.ExpressionCompiler.Computation;
import io.isolde.error.IsoldeException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.ColumnSpecification;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.service.ClientState;

/** Prepares blocks: Cassandra prepares their statements, and their markers get types. */
public final class BlockCompiler {
  private final BiFunction<String, ClientState, CQLStatement> cassandra;
  private final ClientState client;
  private final ExpressionCompiler expressions;

  /** Of the result; null until there is a SELECT. */
  private List<ColumnSpecification> columns;

  private BlockCompiler(
      ParsedBlock parsed,
      BiFunction<String, ClientState, CQLStatement> cassandra,
      ClientState client) {
    this.cassandra = cassandra;
    this.client = client;
    this.expressions = new ExpressionCompiler(parsed.markers());
  }

  /**
   * Prepares the text of a block.
   *
   * @param cassandra prepares the text of a single statement
   * @throws org.apache.cassandra.exceptions.RequestValidationException if it is not understood, or
   *     its types do not fit
   */
  public static PreparedBlock prepare(
      String text, BiFunction<String, ClientState, CQLStatement> cassandra, ClientState client) {
    ParsedBlock parsed = BlockParser.parse(text);
    BlockCompiler compiler = new BlockCompiler(parsed, cassandra, client);
    List<BlockStep> steps = compiler.steps(parsed.items());
    return new PreparedBlock(
        steps,
        compiler.expressions.lets(),
        compiler.expressions.variables(),
        compiler.expressions.functions(),
        compiler.columns);
  }

  private List<BlockStep> steps(List<Item> items) {
    List<BlockStep> steps = new ArrayList<>();
    for (Item item : items) {
      steps.add(step(item));
    }
    return steps;
  }

  private BlockStep step(Item item) {
    if (item instanceof Item.Let let) {
      BlockStep.Read read = read(let.select());
      int number = expressions.add(let.name(), read.select().getResultMetadata().requestNames());
      return new BlockStep.Let(number, let.name(), read);
    }
    if (item instanceof Item.Rows rows) {
      BlockStep.Read read = read(rows.select());
      returns(read.select().getResultMetadata().requestNames());
      return new BlockStep.Rows(read);
    }
    if (item instanceof Item.Values values) {
      return values(values);
    }
    if (item instanceof Item.Choice choice) {
      return new BlockStep.Choice(
          expressions.compile(choice.condition()), steps(choice.then()), steps(choice.otherwise()));
    }
    return write(((Item.Write) item).statement());
  }

  private BlockStep.Read read(StatementText text) {
    SelectStatement select = (SelectStatement) cassandra.apply(text.cql(), client);
    return new BlockStep.Read(select, bound(text, select));
  }

  private BlockStep values(Item.Values values) {
    List<Computation> computations = new ArrayList<>();
    List<ColumnSpecification> specifications = new ArrayList<>();
    for (Item.Named named : values.columns()) {
      computations.add(expressions.compile(named.reference()));
      specifications.add(expressions.column(named.reference(), named.name()));
    }
    returns(specifications);
    return new BlockStep.Values(computations);
  }

  /** Rows of all SELECTs stand in one result. */
  private void returns(List<ColumnSpecification> more) {
    boolean isSame = columns == null || columns.size() == more.size();
    for (int i = 0; columns != null && isSame && i < more.size(); i++) {
      isSame =
          columns.get(i).name.equals(more.get(i).name)
              && columns.get(i).type.unwrap().equals(more.get(i).type.unwrap());
    }
    if (!isSame) {
      throw IsoldeException.invalid(
          "BEGIN TRANSACTION: a block returns one result, so all its SELECTs must have the same"
              + " columns. Read rows by LET, and return what you need by SELECT name.column, ….");
    }
    columns = columns == null ? more : columns;
  }

  private BlockStep write(StatementText text) {
    ModificationStatement statement = (ModificationStatement) cassandra.apply(text.cql(), client);
    if (statement.hasConditions()) {
      throw IsoldeException.invalid(
          "BEGIN TRANSACTION: a statement of a block has no IF of its own; put it between IF …"
              + " THEN and END IF.");
    }
    return new BlockStep.Write(statement, bound(text, statement));
  }

  private BlockStep.Bound bound(StatementText text, CQLStatement statement) {
    List<ColumnSpecification> markers = statement.getBindVariables();
    if (markers.size() != text.values().size()) {
      throw new IllegalStateException("Cassandra finds other markers in " + text.cql());
    }
    List<Computation> values = new ArrayList<>();
    for (int i = 0; i < markers.size(); i++) {
      values.add(expressions.compile(text.values().get(i), markers.get(i)));
    }
    return new BlockStep.Bound(values);
  }
}
