// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.replication.PrivateField;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.cassandra.cql3.Attributes;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.VariableSpecifications;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.service.ClientState;

/**
 * A text {@code BEGIN BATCH … APPLY BATCH} with conditions of several tables. Cassandra refuses it
 * when it prepares it, before any handler sees it, so it is prepared here.
 */
final class SpanningBatch {
  private static final String REFUSAL = "Batch with conditions cannot span multiple tables";

  private static final PrivateField STATEMENTS =
      PrivateField.of(BatchStatement.Parsed.class, "parsedStatements");
  private static final PrivateField ATTRIBUTES =
      PrivateField.of(BatchStatement.Parsed.class, "attrs");
  private static final PrivateField TYPE = PrivateField.of(BatchStatement.Parsed.class, "type");
  private static final PrivateField VARIABLES =
      PrivateField.of(CQLStatement.Raw.class, "bindVariables");

  private SpanningBatch() {}

  /**
   * Prepares such a batch.
   *
   * @param failure of Cassandra, with the same text
   * @return empty if it failed for another reason
   */
  static Optional<BatchStatement> prepare(
      String text, ClientState client, RuntimeException failure) {
    return failure instanceof InvalidRequestException && REFUSAL.equals(failure.getMessage())
        ? Optional.of(prepare(text, client))
        : Optional.empty();
  }

  /** Prepares such a batch. Fails as Cassandra does, for all other reasons. */
  static BatchStatement prepare(String text, ClientState client) {
    BatchStatement.Parsed raw = (BatchStatement.Parsed) QueryProcessor.parseStatement(text);
    raw.setKeyspace(client);
    VariableSpecifications variables = (VariableSpecifications) VARIABLES.get(raw);
    List<ModificationStatement> statements = new ArrayList<>();
    for (Object parsed : (List<?>) STATEMENTS.get(raw)) {
      statements.add(((ModificationStatement.Parsed) parsed).prepare(client, variables));
    }
    Attributes attributes = ((Attributes.Raw) ATTRIBUTES.get(raw)).prepare("[batch]", "[batch]");
    attributes.collectMarkerSpecification(variables);
    BatchStatement.Type type = (BatchStatement.Type) TYPE.get(raw);
    new BatchStatement(type, variables, List.of(), attributes).validate();
    return new BatchStatement(type, variables, statements, attributes);
  }
}
