// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import com.google.common.collect.MapMaker;
import io.isolde.error.IsoldeException;
import io.isolde.peers.NewNames;
import io.isolde.replication.PrivateField;
import io.isolde.transaction.Tables;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.cassandra.audit.AuditLogContext;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.statements.schema.AlterTableStatement;
import org.apache.cassandra.cql3.statements.schema.CreateTableStatement;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientWarn;
import org.apache.cassandra.transport.messages.ResultMessage;

/**
 * {@code WITH transactional_mode = 'full'} of CREATE TABLE and ALTER TABLE, as Cassandra 6 has it:
 * ENABLE TRANSACTIONS, and with {@code 'off'} DISABLE TRANSACTIONS. The schema does not keep the
 * option.
 */
final class TransactionalOption {
  private static final String NAME = "transactional_mode";
  private static final PrivateField IF_EXISTS =
      PrivateField.of(AlterTableStatement.class, "ifExists");

  /** The option of statements from which it was taken, for as long as they are kept. */
  private static final Map<CQLStatement, Object> TAKEN = new MapMaker().weakKeys().makeMap();

  private final LazyCoordinator coordinator;
  private final NewNames newNames;

  TransactionalOption(LazyCoordinator coordinator, NewNames newNames) {
    this.coordinator = coordinator;
    this.newNames = newNames;
  }

  /** What a statement of a table says of it; null if nothing. */
  private static Object valueIn(CQLStatement statement) {
    boolean isOfTable =
        statement instanceof CreateTableStatement || statement instanceof AlterTableStatement;
    if (!isOfTable) {
      return null;
    }
    // Cassandra would refuse it. From the first time on, a prepared statement is without it.
    return IsoldeInSchema.tableOptions(statement)
        .map(
            options -> {
              synchronized (options) {
                Object value = options.remove(NAME);
                if (value != null) {
                  TAKEN.put(statement, value);
                }
                return TAKEN.get(statement);
              }
            })
        .orElse(null);
  }

  static boolean isIn(CQLStatement statement) {
    return valueIn(statement) != null;
  }

  /**
   * Runs the statement without the option, and does what the option says.
   *
   * @param withoutOption runs what is left of it
   */
  ResultMessage run(
      CQLStatement statement, Incoming incoming, Supplier<ResultMessage> withoutOption) {
    statement.authorize(incoming.client());
    boolean isTransactional = isTransactional(valueIn(statement));
    if (statement instanceof CreateTableStatement) {
      return create(statement, isTransactional, incoming, withoutOption);
    }
    boolean isAll = IsoldeInSchema.tableOptions(statement).orElseThrow().isEmpty();
    ResultMessage answer = isAll ? null : withoutOption.get();
    if (table(statement) == null && (!isAll || (Boolean) IF_EXISTS.get(statement))) {
      return new ResultMessage.Void();
    }
    change(statement, isTransactional, incoming);
    return answer == null ? ControlStatements.changed(table(statement)) : answer;
  }

  private ResultMessage create(
      CQLStatement statement,
      boolean isTransactional,
      Incoming incoming,
      Supplier<ResultMessage> withoutOption) {
    ResultMessage answer = withoutOption.get();
    if (isTransactional && answer instanceof ResultMessage.SchemaChange) {
      try {
        change(statement, true, incoming);
      } catch (IsoldeException e) {
        throw plain(table(statement), e);
      }
    }
    return answer;
  }

  /**
   * After CREATE TABLE IF NOT EXISTS of a table that is there. It may be another client's, who has
   * not made it transactional yet.
   */
  void awaitTransactional(CQLStatement statement) {
    IsoldeInSchema.newName(statement, true)
        .ifPresent(name -> newNames.awaitMaker(name, () -> isTransactional(table(statement))));
    if (!isTransactional(table(statement))) {
      ClientWarn.instance.warn(
          "The table "
              + table(statement)
              + " was there before, and it is plain; ENABLE TRANSACTIONS makes it transactional.");
    }
  }

  /** Whether a statement that has the option makes a new table transactional. */
  static boolean isOfNewTable(CQLStatement statement) {
    return isTransactional(valueIn(statement)) && statement instanceof CreateTableStatement;
  }

  /** Also if it is gone. */
  private static boolean isTransactional(TableMetadata table) {
    return table == null || Tables.isTransactional(table);
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

  private static TableMetadata table(CQLStatement statement) {
    AuditLogContext names = statement.getAuditLogContext();
    return Schema.instance.getTableMetadata(names.keyspace, names.scope);
  }

  private void change(CQLStatement statement, boolean isTransactional, Incoming incoming) {
    AuditLogContext names = statement.getAuditLogContext();
    TableMetadata table = Schema.instance.validateTable(names.keyspace, names.scope);
    if (isTransactional) {
      SnapshotValidator.refuseWrites(List.of(table));
      coordinator.get().mode().enable(table, Optional.empty(), incoming.state());
    } else {
      coordinator.get().mode().disable(table, incoming.state());
    }
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
