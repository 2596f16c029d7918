// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.block.PreparedBlock;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.group.MemberChange;
import io.isolde.version.ConflictUnit;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.apache.cassandra.audit.AuditLogContext;
import org.apache.cassandra.audit.AuditLogEntryType;
import org.apache.cassandra.auth.Permission;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.ColumnSpecification;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.functions.Function;
import org.apache.cassandra.cql3.statements.SelectStatement;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.messages.ResultMessage;

/** A statement that Cassandra does not know. Executed by {@link IsoldeQueryHandler}. */
sealed interface ControlStatement extends CQLStatement {

  /**
   * A text that can't be parsed. It is refused when it is executed: only then the payload says
   * which transaction it was to be a part of.
   */
  record Unparsable(RuntimeException error) implements ControlStatement {}

  /** START TRANSACTION. */
  record Start(IsolationLevel level, boolean readOnly, OptionalLong asOf, Optional<String> snapshot)
      implements ControlStatement {
    /** Whether the transaction reads what is there when it starts. */
    boolean isOfNow() {
      return asOf.isEmpty() && snapshot.isEmpty();
    }
  }

  /**
   * CREATE SNAPSHOT.
   *
   * @param wholeKeyspace null if tables are named
   * @param ttlMillis 0 for none
   */
  record CreateSnapshot(
      String name,
      boolean ifNotExists,
      String wholeKeyspace,
      List<QualifiedTable> tables,
      long ttlMillis,
      boolean isGated)
      implements ControlStatement {

    @Override
    public AuditLogContext getAuditLogContext() {
      return new AuditLogContext(
          AuditLogEntryType.CREATE_TABLE,
          wholeKeyspace != null ? wholeKeyspace : tables.get(0).keyspace(),
          name);
    }
  }

  /**
   * A table as a statement names it.
   *
   * @param keyspace null for the connection's
   */
  record QualifiedTable(String keyspace, String table) {}

  /** DROP SNAPSHOT. */
  record DropSnapshot(String name, boolean ifExists) implements ControlStatement {
    @Override
    public AuditLogContext getAuditLogContext() {
      return new AuditLogContext(AuditLogEntryType.DROP_TABLE, null, name);
    }
  }

  /** COMMIT. */
  record Commit() implements ControlStatement {}

  /** ROLLBACK. */
  record Rollback() implements ControlStatement {}

  /** SAVEPOINT, ROLLBACK TO and RELEASE. */
  record Savepoint(How how, String name) implements ControlStatement {
    enum How {
      SET,
      ROLL_BACK_TO,
      RELEASE
    }
  }

  /** BEGIN TRANSACTION … COMMIT TRANSACTION: a whole transaction. */
  record Block(PreparedBlock block) implements ControlStatement {
    @Override
    public List<ColumnSpecification> getBindVariables() {
      return block.variables();
    }

    @Override
    public Iterable<Function> getFunctions() {
      return block.functions();
    }

    @Override
    public void authorize(ClientState state) {
      state.validateLogin();
      block.statements().forEach(statement -> statement.authorize(state));
      block
          .ownFunctions()
          .forEach(function -> state.ensurePermission(Permission.EXECUTE, function));
    }

    /** One that only reads is filed as a SELECT of its first table. */
    @Override
    public AuditLogContext getAuditLogContext() {
      return block.writtenTables().isEmpty()
          ? block.statements().get(0).getAuditLogContext()
          : ControlStatement.super.getAuditLogContext();
    }

    @Override
    public void validate(ClientState state) {
      block.statements().forEach(statement -> statement.validate(state));
    }

    /** As with an LWT, drivers get the columns of a result with each of them. */
    @Override
    public boolean hasConditions() {
      return true;
    }
  }

  /**
   * SELECT CHANGES.
   *
   * @param select reads what is watched
   * @param after from where on
   * @param within how many milliseconds it waits
   * @param variables of the text
   */
  record Watch(
      SelectStatement select,
      WatchStatements.Term after,
      WatchStatements.Term within,
      List<ColumnSpecification> variables)
      implements ControlStatement {
    @Override
    public List<ColumnSpecification> getBindVariables() {
      return variables;
    }

    @Override
    public short[] getPartitionKeyBindVariableIndexes() {
      return select.getPartitionKeyBindVariableIndexes();
    }

    @Override
    public Iterable<Function> getFunctions() {
      return select.getFunctions();
    }

    @Override
    public AuditLogContext getAuditLogContext() {
      return select.getAuditLogContext();
    }
  }

  /** SHOW TRANSACTION: what became of it. */
  record Show(UUID id) implements ControlStatement {
    @Override
    public AuditLogContext getAuditLogContext() {
      return new AuditLogContext(AuditLogEntryType.DESCRIBE);
    }
  }

  /** LIST TRANSACTIONS: those that are open on this node. */
  record ListOpen() implements ControlStatement {
    @Override
    public AuditLogContext getAuditLogContext() {
      return new AuditLogContext(AuditLogEntryType.DESCRIBE);
    }
  }

  /** KILL TRANSACTION: ends one that is open on this node. */
  record Kill(UUID id) implements ControlStatement {}

  /**
   * ENABLE TRANSACTIONS ON a table.
   *
   * @param keyspace null for the connection's
   * @param conflicts what is said of them; empty if nothing
   */
  record Enable(String keyspace, String table, Optional<ConflictUnit> conflicts)
      implements ControlStatement {
    @Override
    public AuditLogContext getAuditLogContext() {
      return new AuditLogContext(AuditLogEntryType.ALTER_TABLE, keyspace, table);
    }
  }

  /**
   * DISABLE TRANSACTIONS ON a table.
   *
   * @param keyspace null for the connection's
   */
  record Disable(String keyspace, String table) implements ControlStatement {
    @Override
    public AuditLogContext getAuditLogContext() {
      return new AuditLogContext(AuditLogEntryType.ALTER_TABLE, keyspace, table);
    }
  }

  /**
   * ALTER ORACLE: changes the members of the oracle's group, or its leader.
   *
   * @param change ADD, REMOVE or LEAD
   * @param address of the node, as the cluster knows it
   */
  record AlterOracle(MemberChange.Kind change, String address) implements ControlStatement {
    @Override
    public AuditLogContext getAuditLogContext() {
      return new AuditLogContext(AuditLogEntryType.ALTER_KEYSPACE);
    }
  }

  /** ALTER ORACLE ACCEPT LOSS: what the oracle has committed may be gone with its logs. */
  record AcceptOracleLoss() implements ControlStatement {}

  /**
   * ALTER KEYSPACE … LEADER: lets a node lead the replica groups of a strong keyspace.
   *
   * @param address of the node, as the cluster knows it
   */
  record AlterLeader(String keyspace, String address) implements ControlStatement {
    @Override
    public AuditLogContext getAuditLogContext() {
      return new AuditLogContext(AuditLogEntryType.ALTER_KEYSPACE, keyspace);
    }
  }

  /**
   * ALTER KEYSPACE … REBALANCE: moves replicas of a strong keyspace.
   *
   * @param without addresses of nodes that must have none
   */
  record Rebalance(String keyspace, List<String> without) implements ControlStatement {
    @Override
    public AuditLogContext getAuditLogContext() {
      return new AuditLogContext(AuditLogEntryType.ALTER_KEYSPACE, keyspace);
    }
  }

  @Override
  default List<ColumnSpecification> getBindVariables() {
    return Collections.emptyList();
  }

  @Override
  default short[] getPartitionKeyBindVariableIndexes() {
    return new short[0];
  }

  @Override
  default Iterable<Function> getFunctions() {
    return Collections.emptyList();
  }

  /** What a statement needs is checked by what it does. */
  @Override
  default void authorize(ClientState state) {
    state.validateLogin();
  }

  @Override
  default void validate(ClientState state) {}

  @Override
  default ResultMessage execute(
      QueryState state, QueryOptions options, Dispatcher.RequestTime requestTime) {
    throw new UnsupportedOperationException("executed by the query handler");
  }

  @Override
  default ResultMessage executeLocally(QueryState state, QueryOptions options) {
    throw new UnsupportedOperationException("executed by the query handler");
  }

  /** What changes a table, a keyspace or members is filed as Cassandra files such statements. */
  @Override
  default AuditLogContext getAuditLogContext() {
    return new AuditLogContext(AuditLogEntryType.BATCH);
  }
}
