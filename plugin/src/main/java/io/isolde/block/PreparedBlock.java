// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import io.isolde.statement.BoundWrite;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.ColumnSpecification;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.functions.Function;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.exceptions.FunctionExecutionException;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.schema.TableMetadata;

/** A block that is ready to be carried out, as often as a client binds values to it. Immutable. */
public final class PreparedBlock {
  private final List<BlockStep> steps;
  private final int lets;
  private final List<ColumnSpecification> variables;
  private final List<Function> ownFunctions;
  private final List<ColumnSpecification> columns;

  /**
   * @param lets how many rows it keeps
   * @param ownFunctions those that it calls outside of its statements
   * @param columns of its result; null if it returns no rows
   */
  PreparedBlock(
      List<BlockStep> steps,
      int lets,
      List<ColumnSpecification> variables,
      List<Function> ownFunctions,
      List<ColumnSpecification> columns) {
    this.steps = List.copyOf(steps);
    this.lets = lets;
    this.variables = variables;
    this.ownFunctions = List.copyOf(ownFunctions);
    this.columns = columns;
  }

  /** What the client binds. */
  public List<ColumnSpecification> variables() {
    return variables;
  }

  List<BlockStep> steps() {
    return steps;
  }

  /** The columns of its result, if it returns rows of tables. */
  Optional<List<ColumnSpecification>> columns() {
    return Optional.ofNullable(columns);
  }

  BlockMoment moment(QueryOptions options) {
    return new BlockMoment(options, lets);
  }

  /** Whether it has an IF. */
  boolean hasChoices() {
    return steps.stream().anyMatch(BlockStep.Choice.class::isInstance);
  }

  /** All statements of tables in it, those of all branches. */
  public List<CQLStatement> statements() {
    List<CQLStatement> statements = new ArrayList<>();
    forEach(
        steps,
        step -> {
          if (step instanceof BlockStep.Let let) {
            statements.add(let.read().select());
          } else if (step instanceof BlockStep.Rows rows) {
            statements.add(rows.read().select());
          } else if (step instanceof BlockStep.Write write) {
            statements.add(write.statement());
          }
        });
    return statements;
  }

  private static void forEach(List<BlockStep> steps, Consumer<BlockStep> action) {
    for (BlockStep step : steps) {
      action.accept(step);
      if (step instanceof BlockStep.Choice choice) {
        forEach(choice.then(), action);
        forEach(choice.otherwise(), action);
      }
    }
  }

  /** The tables that it reads or writes. */
  public Set<TableMetadata> tables() {
    Set<TableMetadata> tables = writtenTables();
    for (CQLStatement statement : statements()) {
      if (statement instanceof SelectStatement select) {
        tables.add(select.table);
      }
    }
    return tables;
  }

  /** The tables that it may write. */
  public Set<TableMetadata> writtenTables() {
    Set<TableMetadata> tables = new LinkedHashSet<>();
    for (CQLStatement statement : statements()) {
      if (statement instanceof ModificationStatement write) {
        tables.add(write.metadata());
      }
    }
    return tables;
  }

  /** Those that it calls outside of its statements, which therefore do not ask for permission. */
  public List<Function> ownFunctions() {
    return ownFunctions;
  }

  /** All functions that it calls. */
  public List<Function> functions() {
    List<Function> functions = new ArrayList<>(ownFunctions);
    statements().forEach(statement -> statement.getFunctions().forEach(functions::add));
    return functions;
  }

  /**
   * Its writes as far as they are known before anything is read: what comes from rows is null.
   * Bound one by one, as they are asked for; without those whose values are wrong, since perhaps
   * they are not carried out.
   */
  public Stream<BoundWrite> knownWrites(QueryOptions options) {
    BlockMoment moment = moment(options);
    List<BlockStep.Write> writes = new ArrayList<>();
    forEach(
        steps,
        step -> {
          if (step instanceof BlockStep.Write write) {
            writes.add(write);
          }
        });
    return writes.stream().flatMap(write -> known(write, moment).stream());
  }

  private static Optional<BoundWrite> known(BlockStep.Write write, BlockMoment moment) {
    try {
      return Optional.of(new BoundWrite(write.statement(), write.bound().at(moment)));
    } catch (InvalidRequestException | FunctionExecutionException e) {
      return Optional.empty();
    }
  }
}
