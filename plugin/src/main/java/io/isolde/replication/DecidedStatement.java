// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.apply.Stamp;
import io.isolde.apply.TableStores;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.statement.CassandraConditions;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.cassandra.cql3.Attributes;
import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.VariableSpecifications;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.db.ConsistencyLevel;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.ProtocolVersion;

/**
 * A {@link DecisionRequest} as the leader understands it.
 *
 * @param conditional empty if it has no IF
 */
record DecidedStatement(
    List<ModificationStatement> statements,
    BatchQueryOptions options,
    QueryState state,
    DecoratedKey key,
    Optional<CassandraConditions.Conditional> conditional,
    long nowInSeconds,
    int protocolVersion) {
  static DecidedStatement of(DecisionRequest request) {
    ClientState client = ClientState.forInternalCalls(request.keyspace());
    QueryState state = new QueryState(client, Stamp.PROVISIONAL_MICROS, request.nowInSeconds());
    return request.isList() ? ofList(request, state) : ofText(request, state);
  }

  private static DecidedStatement ofText(DecisionRequest request, QueryState state) {
    CQLStatement statement = statement(request, 0, state.getClientState());
    QueryOptions options = options(request, request.values().get(0));
    options.prepare(statement.getBindVariables());
    BatchQueryOptions asBatch = BatchQueryOptions.withoutPerStatementVariables(options);
    if (statement instanceof BatchStatement batch) {
      return of(request, state, batch, asBatch);
    }
    ModificationStatement write = (ModificationStatement) statement;
    return new DecidedStatement(
        List.of(write),
        asBatch,
        state,
        key(write, options, state.getClientState()),
        write.hasConditions()
            ? Optional.of(CassandraConditions.of(write, state, options))
            : Optional.empty(),
        request.nowInSeconds(),
        request.protocolVersion());
  }

  private static DecidedStatement ofList(DecisionRequest request, QueryState state) {
    List<ModificationStatement> statements = new ArrayList<>();
    BatchQueryOptions options =
        BatchQueryOptions.withPerStatementVariables(
            options(request, List.of()), request.values(), List.copyOf(request.texts()));
    for (int i = 0; i < request.texts().size(); i++) {
      CQLStatement statement = statement(request, i, state.getClientState());
      options.prepareStatement(i, statement.getBindVariables());
      statements.add((ModificationStatement) statement);
    }
    BatchStatement batch =
        new BatchStatement(
            BatchStatement.Type.LOGGED,
            VariableSpecifications.empty(),
            statements,
            Attributes.none());
    return of(request, state, batch, options);
  }

  private static DecidedStatement of(
      DecisionRequest request, QueryState state, BatchStatement batch, BatchQueryOptions options) {
    return new DecidedStatement(
        batch.getStatements(),
        options,
        state,
        key(batch.getStatements().get(0), options.forStatement(0), state.getClientState()),
        batch.hasConditions()
            ? Optional.of(CassandraConditions.of(batch, state, options))
            : Optional.empty(),
        request.nowInSeconds(),
        request.protocolVersion());
  }

  /**
   * A statement that makes no sense on this node. It does where it comes from: perhaps this node
   * has not heard of a table or a column yet.
   */
  static final class UnknownHereException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    UnknownHereException(RuntimeException cause) {
      super(cause.getMessage(), cause);
    }
  }

  private static CQLStatement statement(DecisionRequest request, int index, ClientState client) {
    try {
      CQLStatement statement = parsed(request, index, client);
      List<ModificationStatement> writes =
          statement instanceof BatchStatement batch
              ? batch.getStatements()
              : List.of((ModificationStatement) statement);
      writes.forEach(write -> TableStores.requireOpen(write.metadata()));
      return statement;
    } catch (RuntimeException e) {
      throw new UnknownHereException(e);
    }
  }

  private static CQLStatement parsed(DecisionRequest request, int index, ClientState client) {
    String text = request.texts().get(index);
    if (!request.isPrepared()) {
      return QueryProcessor.parseStatement(text, client);
    }
    var id = QueryProcessor.instance.prepare(text, client).statementId;
    var kept = QueryProcessor.instance.getPrepared(id);
    return kept == null ? parsed(text, client) : kept.statement;
  }

  /** A schema change or a full cache may let go of a statement as soon as it is prepared. */
  private static CQLStatement parsed(String text, ClientState client) {
    return QueryProcessor.parseAndPrepare(text, client, false, false).statement;
  }

  private static QueryOptions options(DecisionRequest request, List<ByteBuffer> values) {
    return QueryOptions.create(
        ConsistencyLevel.QUORUM,
        values,
        false,
        -1,
        null,
        ConsistencyLevel.SERIAL,
        ProtocolVersion.decode(request.protocolVersion(), true),
        null,
        Long.MIN_VALUE,
        request.nowInSeconds());
  }

  static DecoratedKey key(
      ModificationStatement statement, QueryOptions options, ClientState client) {
    List<ByteBuffer> keys = statement.buildPartitionKeyNames(options, client);
    if (keys.size() != 1) {
      throw IsoldeException.of(
          ErrorCode.UNSUPPORTED_KEYSPACE,
          "What is read before it is written must be in one partition.",
          "table",
          statement.metadata());
    }
    return statement.metadata().partitioner.decorateKey(keys.get(0));
  }
}
