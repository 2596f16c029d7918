// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.replication.PrivateField;
import java.util.Optional;
import java.util.Set;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.ColumnIdentifier;
import org.apache.cassandra.cql3.QualifiedName;
import org.apache.cassandra.cql3.statements.schema.AlterTableStatement;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.service.ClientState;

/** {@code ALTER TABLE … DROP}, of which Cassandra lets nobody see what it drops, and when. */
final class ColumnDrop {
  private static final Class<?> STATEMENT = statement();
  private static final PrivateField TABLE = PrivateField.of(AlterTableStatement.class, "tableName");
  private static final PrivateField COLUMNS = PrivateField.of(STATEMENT, "removedColumns");
  private static final PrivateField IF_EXISTS = PrivateField.of(STATEMENT, "ifColumnExists");
  private static final PrivateField TIMESTAMP = PrivateField.of(STATEMENT, "timestamp");

  private final AlterTableStatement statement;
  private final TableMetadata table;

  private ColumnDrop(AlterTableStatement statement, TableMetadata table) {
    this.statement = statement;
    this.table = table;
  }

  private static Class<?> statement() {
    try {
      return Class.forName(AlterTableStatement.class.getName() + "$DropColumns");
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException("This is not the Cassandra that Isolde is made for.", e);
    }
  }

  /** Empty if the statement is another one, or if there is no such table. */
  static Optional<ColumnDrop> of(CQLStatement statement) {
    if (!STATEMENT.isInstance(statement)) {
      return Optional.empty();
    }
    AlterTableStatement alter = (AlterTableStatement) statement;
    TableMetadata table =
        Schema.instance.getTableMetadata(alter.keyspace(), (String) TABLE.get(alter));
    return table == null ? Optional.empty() : Optional.of(new ColumnDrop(alter, table));
  }

  TableMetadata table() {
    return table;
  }

  /** Whether it says {@code USING TIMESTAMP}. */
  boolean hasTimestamp() {
    return TIMESTAMP.get(statement) != null;
  }

  /**
   * The same, with another moment.
   *
   * @param micros what has a timestamp up to this is gone
   */
  @SuppressWarnings("unchecked") // as Cassandra's parser makes them
  AlterTableStatement at(long micros, ClientState client) {
    AlterTableStatement.Raw drop =
        new AlterTableStatement.Raw(new QualifiedName(table.keyspace, table.name), false);
    ((Set<ColumnIdentifier>) COLUMNS.get(statement)).forEach(drop::drop);
    drop.ifColumnExists((Boolean) IF_EXISTS.get(statement));
    drop.timestamp(micros);
    return drop.prepare(client);
  }
}
