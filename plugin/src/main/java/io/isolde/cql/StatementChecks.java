// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import static java.util.stream.Collectors.groupingBy;

import com.google.common.collect.Sets;
import io.isolde.statement.BoundWrite;
import io.isolde.statement.ValueChange;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.cassandra.cql3.Attributes;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.Operation;
import org.apache.cassandra.cql3.VariableSpecifications;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.guardrails.Guardrails;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.schema.TableId;

/** What Cassandra checks before it executes a statement, for those that it does not execute. */
final class StatementChecks {
  private StatementChecks() {}

  static void ofRead(SelectStatement select, ConsistencyLevel consistency, Incoming incoming) {
    select.authorize(incoming.client());
    select.validate(incoming.client());
    consistency.validateForRead();
    // The level that was asked for: what is read at is Isolde's choice.
    Guardrails.readConsistencyLevels.guard(Set.of(consistency), incoming.client());
  }

  /** Not of the values: those are made later. */
  static void ofWrite(
      CQLStatement statement,
      List<BoundWrite> writes,
      ConsistencyLevel consistency,
      Incoming incoming) {
    statement.authorize(incoming.client());
    statement.validate(incoming.client());
    consistency.validateForWrite();
    for (BoundWrite write : writes) {
      Guardrails.writeConsistencyLevels.guard(
          Sets.immutableEnumSet(consistency, write.options().getSerialConsistency()),
          incoming.client());
      write.statement().validateDiskUsage(write.options(), incoming.client());
    }
  }

  /** A batch on transactional tables. Its conditions may be of several tables. */
  static void ofBatch(BatchStatement batch) {
    BatchTimestamp.refuse(batch);
    if (!batch.hasConditions()) {
      batch.validate();
      return;
    }
    Map<TableId, List<ModificationStatement>> byTable =
        batch.getStatements().stream().collect(groupingBy(one -> one.metadata().id));
    for (List<ModificationStatement> ofTable : byTable.values()) {
      new BatchStatement(batch.type, VariableSpecifications.empty(), ofTable, Attributes.none())
          .validate();
    }
  }

  /** Of what Cassandra itself would not have prepared: a table was transactional until now. */
  static void ofPlain(CQLStatement statement, List<BoundWrite> writes) {
    if (statement instanceof BatchStatement batch) {
      batch.validate();
    }
    for (BoundWrite write : writes) {
      for (Operation operation : write.statement().allOperations()) {
        if (operation instanceof ValueChange && !write.statement().hasConditions()) {
          throw new InvalidRequestException(
              "Invalid operation: only transactional tables add to the non counter column "
                  + operation.column.name);
        }
      }
    }
  }

  static void ofStrongWrite(
      CQLStatement statement,
      List<BoundWrite> writes,
      ConsistencyLevel consistency,
      Incoming incoming) {
    ofPlain(statement, writes);
    if (statement instanceof BatchStatement batch) {
      BatchTimestamp.refuse(batch);
    }
    ofWrite(statement, writes, consistency, incoming);
  }
}
