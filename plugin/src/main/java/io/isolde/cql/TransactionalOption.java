// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.IsoldeException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.cassandra.audit.AuditLogContext;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.statements.schema.AlterTableStatement;
import org.apache.cassandra.cql3.statements.schema.CreateTableStatement;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.transport.messages.ResultMessage;

/**
 * {@code WITH transactional_mode = 'full'} of CREATE TABLE and ALTER TABLE, as Cassandra 6 has it:
 * ENABLE TRANSACTIONS, and with {@code 'off'} DISABLE TRANSACTIONS. The schema does not keep the
 * option.
 */
final class TransactionalOption {
  private static final String NAME = "transactional_mode";

  private final LazyCoordinator coordinator;

  TransactionalOption(LazyCoordinator coordinator) {
    this.coordinator = coordinator;
  }

  static boolean isIn(CQLStatement statement) {
    boolean isOfTable =
        statement instanceof CreateTableStatement || statement instanceof AlterTableStatement;
    return isOfTable
        && IsoldeInSchema.tableOptions(statement)
            .filter(options -> options.containsKey(NAME))
            .isPresent();
  }

  /**
   * Runs the statement without the option, and does what the option says.
   *
   * @param withoutOption runs what is left of it
   */
  ResultMessage run(
      CQLStatement statement, Incoming incoming, Supplier<ResultMessage> withoutOption) {
    statement.authorize(incoming.client());
    Map<String, Object> options = IsoldeInSchema.tableOptions(statement).orElseThrow();
    boolean isCreation = statement instanceof CreateTableStatement;
    synchronized (options) { // The statement may be a prepared one.
      Object value = options.remove(NAME);
      try {
        boolean isTransactional = isTransactional(value);
        if (options.isEmpty() && !isCreation) {
          return change(statement, isTransactional, incoming);
        }
        ResultMessage answer = withoutOption.get();
        // Of a table that was there before, CREATE … IF NOT EXISTS changes nothing.
        if (isCreation && answer instanceof ResultMessage.SchemaChange) {
          var unused = change(statement, isTransactional, incoming);
          return answer;
        }
        return isCreation ? answer : change(statement, isTransactional, incoming);
      } finally {
        options.put(NAME, value);
      }
    }
  }

  private static boolean isTransactional(Object value) {
    return switch (String.valueOf(value).toLowerCase(Locale.ROOT)) {
      case "full", "mixed_reads" -> true;
      case "off" -> false;
      default ->
          throw IsoldeException.invalid(
              NAME + " is 'full', 'mixed_reads' (which is as 'full' here) or 'off', not " + value);
    };
  }

  private ResultMessage change(CQLStatement statement, boolean isTransactional, Incoming incoming) {
    AuditLogContext names = statement.getAuditLogContext();
    TableMetadata table = Schema.instance.validateTable(names.keyspace, names.scope);
    try {
      if (isTransactional) {
        SnapshotValidator.refuseWrites(List.of(table));
        coordinator.get().mode().enable(table, incoming.state());
      } else {
        coordinator.get().mode().disable(table, incoming.state());
      }
    } catch (IsoldeException e) {
      throw statement instanceof CreateTableStatement ? plain(table, e) : e;
    }
    return ControlStatements.changed(table);
  }

  private static IsoldeException plain(TableMetadata table, IsoldeException why) {
    IsoldeException plain =
        IsoldeException.of(
            why.errorCode(),
            "The table is created, but it is plain: " + why.sentence(),
            "table",
            table);
    plain.addSuppressed(why);
    return plain;
  }
}
