// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.replication.PrivateField;
import io.isolde.statement.BoundWrite;
import io.isolde.statement.ValueChange;
import io.isolde.transaction.Tables;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.cassandra.cql3.Attributes;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.ColumnIdentifier;
import org.apache.cassandra.cql3.Constants;
import org.apache.cassandra.cql3.Operation;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.Term;
import org.apache.cassandra.cql3.VariableSpecifications;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.cql3.statements.QualifiedStatement;
import org.apache.cassandra.cql3.statements.UpdateStatement;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.schema.ColumnMetadata;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.utils.Pair;

/**
 * Statements that Cassandra refuses when it prepares them, before any handler sees them, though
 * transactional tables take them. They are prepared here, then, as Cassandra would prepare them:
 *
 * <ul>
 *   <li>{@code BEGIN BATCH … APPLY BATCH} with conditions of several tables;
 *   <li>{@code UPDATE … SET v = v + ?} and {@code - ?} on columns of numbers, and {@code v + ?} on
 *       those of texts, alone or in a batch.
 * </ul>
 */
final class LateRefusals {
  private static final String OF_BATCHES = "Batch with conditions cannot span multiple tables";
  private static final String OF_NUMBERS = "for non counter column";

  private static final PrivateField STATEMENTS =
      PrivateField.of(BatchStatement.Parsed.class, "parsedStatements");
  private static final PrivateField ATTRIBUTES =
      PrivateField.of(BatchStatement.Parsed.class, "attrs");
  private static final PrivateField TYPE = PrivateField.of(BatchStatement.Parsed.class, "type");
  private static final PrivateField VARIABLES =
      PrivateField.of(CQLStatement.Raw.class, "bindVariables");
  private static final PrivateField UPDATES =
      PrivateField.of(UpdateStatement.ParsedUpdate.class, "updates");
  private static final PrivateField ADDED = PrivateField.of(Operation.Addition.class, "value");
  private static final PrivateField SUBTRACTED =
      PrivateField.of(Operation.Substraction.class, "value");

  private static final PrivateField TERM = PrivateField.of(Operation.class, "t");

  private LateRefusals() {}

  /** Whether the text names the keyspaces of all its tables. */
  static boolean isFullyQualified(String text) {
    return QueryProcessor.parseStatement(text) instanceof QualifiedStatement qualified
        && qualified.isFullyQualified();
  }

  /**
   * Makes exact what Cassandra has prepared, with conditions, of additions to numbers: its own wrap
   * around at the end of the range.
   */
  static void makeExact(List<BoundWrite> writes) {
    for (BoundWrite write : writes) {
      if (write.statement().requiresRead()) {
        changeExactly(write.statement().getRegularOperations());
        changeExactly(write.statement().getStaticOperations());
      }
    }
  }

  /** In place and one by one: others may run the same prepared statement meanwhile. */
  private static void changeExactly(List<Operation> operations) {
    for (int i = 0; i < operations.size(); i++) {
      Operation operation = operations.get(i);
      if (operation instanceof Constants.Adder && ValueChange.isFor(operation.column, false)) {
        operations.set(i, new ValueChange(operation.column, (Term) TERM.get(operation), false));
      }
    }
  }

  /**
   * Prepares a text in spite of Cassandra's refusal.
   *
   * @return empty if Cassandra refused it for another reason, or rightly
   */
  static Optional<CQLStatement> prepare(String text, ClientState client, RuntimeException refusal) {
    String why = String.valueOf(refusal.getMessage());
    boolean isLate =
        refusal instanceof InvalidRequestException
            && (why.equals(OF_BATCHES) || why.contains(OF_NUMBERS));
    return isLate ? Optional.of(prepare(text, client)) : Optional.empty();
  }

  /** Prepares such a text. Fails as Cassandra does, for all other reasons. */
  static CQLStatement prepare(String text, ClientState client) {
    CQLStatement.Raw raw = QueryProcessor.parseStatement(text);
    if (raw instanceof QualifiedStatement qualified) {
      qualified.setKeyspace(client);
    }
    VariableSpecifications variables = (VariableSpecifications) VARIABLES.get(raw);
    if (!(raw instanceof BatchStatement.Parsed batch)) {
      return prepare((ModificationStatement.Parsed) raw, client, variables);
    }
    List<ModificationStatement> statements = new ArrayList<>();
    for (Object parsed : (List<?>) STATEMENTS.get(batch)) {
      statements.add(prepare((ModificationStatement.Parsed) parsed, client, variables));
    }
    Attributes attributes = ((Attributes.Raw) ATTRIBUTES.get(batch)).prepare("[batch]", "[batch]");
    attributes.collectMarkerSpecification(variables);
    BatchStatement.Type type = (BatchStatement.Type) TYPE.get(batch);
    new BatchStatement(type, variables, List.of(), attributes).validate();
    return new BatchStatement(type, variables, statements, attributes);
  }

  private static ModificationStatement prepare(
      ModificationStatement.Parsed parsed, ClientState client, VariableSpecifications variables) {
    TableMetadata table = Schema.instance.getTableMetadata(parsed.keyspace(), parsed.name());
    if (parsed instanceof UpdateStatement.ParsedUpdate update
        && table != null
        && Tables.isTransactional(table)) {
      @SuppressWarnings("unchecked") // as the field declares
      List<Pair<ColumnIdentifier, Operation.RawUpdate>> updates =
          (List<Pair<ColumnIdentifier, Operation.RawUpdate>>) UPDATES.get(update);
      updates.replaceAll(pair -> Pair.create(pair.left, ofNumbers(pair.right)));
    }
    ModificationStatement prepared = parsed.prepare(client, variables);
    refuseTwice(prepared);
    return prepared;
  }

  /** Both would start from the same value. */
  private static void refuseTwice(ModificationStatement statement) {
    for (Operation one : statement.allOperations()) {
      for (Operation other : statement.allOperations()) {
        if (one != other && one instanceof ValueChange && one.column.equals(other.column)) {
          throw new InvalidRequestException(
              "Multiple incompatible setting of column " + one.column.name);
        }
      }
    }
  }

  private static Operation.RawUpdate ofNumbers(Operation.RawUpdate raw) {
    if (raw instanceof Operation.Addition) {
      return new RawChange(raw, (Term.Raw) ADDED.get(raw), false);
    }
    return raw instanceof Operation.Substraction
        ? new RawChange(raw, (Term.Raw) SUBTRACTED.get(raw), true)
        : raw;
  }

  /** As Cassandra's, but for numbers. */
  private record RawChange(Operation.RawUpdate raw, Term.Raw change, boolean isSubtraction)
      implements Operation.RawUpdate {
    @Override
    public Operation prepare(
        TableMetadata table, ColumnMetadata receiver, boolean canReadExistingState) {
      return ValueChange.isFor(receiver, isSubtraction)
          ? new ValueChange(receiver, change.prepare(table.keyspace, receiver), isSubtraction)
          : raw.prepare(table, receiver, canReadExistingState);
    }

    @Override
    public boolean isCompatibleWith(Operation.RawUpdate other) {
      return raw.isCompatibleWith(other);
    }
  }
}
