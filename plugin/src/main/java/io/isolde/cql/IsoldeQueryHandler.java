// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.config.IsoldeConfig;
import io.isolde.cql.StatementRouter.Incoming;
import io.isolde.transaction.DataStatements.Request;
import io.isolde.transaction.TableGate;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryHandler;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.service.QueryState;
import org.apache.cassandra.transport.Dispatcher;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.MD5Digest;

/**
 * The door through which every request of every client comes: {@code
 * -Dcassandra.custom_query_handler_class=io.isolde.cql.IsoldeQueryHandler}. Isolde's statements are
 * recognised before Cassandra's parser; statements on transactional tables are run as transactions;
 * everything else goes to Cassandra as if Isolde were not there.
 */
public final class IsoldeQueryHandler implements QueryHandler {
  private final QueryProcessor cassandra = QueryProcessor.instance;
  private final PreparedControlStatements preparedControl = new PreparedControlStatements();
  private final StatementRouter router;

  /**
   * Made early in the start of the node.
   *
   * @throws IsoldeConfig.ConfigurationException if isolde.yaml is refused; it stops the start
   */
  public IsoldeQueryHandler() {
    TableGate gate = new TableGate();
    router =
        new StatementRouter(gate, new NodeStart(IsoldeConfig.ofThisNode(), gate).inBackground());
  }

  @Override
  public CQLStatement parse(String text, QueryState state, QueryOptions options) {
    Optional<ControlStatement> control = StatementParser.parse(text);
    return control.isPresent() ? control.get() : cassandra.parse(text, state, options);
  }

  @Override
  public ResultMessage process(
      CQLStatement statement,
      QueryState state,
      QueryOptions options,
      Map<String, ByteBuffer> payload,
      Dispatcher.RequestTime requestTime) {
    prepare(statement, options);
    return router.route(
        statement,
        options,
        incoming(
            state,
            payload,
            requestTime,
            () -> cassandra.process(statement, state, options, payload, requestTime)));
  }

  private static Incoming incoming(
      QueryState state,
      Map<String, ByteBuffer> payload,
      Dispatcher.RequestTime requestTime,
      Supplier<ResultMessage> onCassandra) {
    return new Incoming(
        state,
        Payload.transactionId(payload),
        Payload.startTimestamp(payload),
        new Request(state, requestTime),
        onCassandra);
  }

  private static void prepare(CQLStatement statement, QueryOptions options) {
    options.prepare(statement.getBindVariables());
    if (statement.getBindVariables().size() != options.getValues().size()) {
      throw new InvalidRequestException("Invalid amount of bind variables");
    }
  }

  @Override
  public ResultMessage.Prepared prepare(
      String text, ClientState state, Map<String, ByteBuffer> payload) {
    Optional<ControlStatement> control = StatementParser.parse(text);
    return control.isPresent()
        ? preparedControl.prepare(text, control.get(), state)
        : cassandra.prepare(text, state, payload);
  }

  @Override
  public QueryHandler.Prepared getPrepared(MD5Digest id) {
    QueryHandler.Prepared prepared = cassandra.getPrepared(id);
    return prepared != null ? prepared : preparedControl.get(id);
  }

  @Override
  public ResultMessage processPrepared(
      CQLStatement statement,
      QueryState state,
      QueryOptions options,
      Map<String, ByteBuffer> payload,
      Dispatcher.RequestTime requestTime) {
    return router.route(
        statement,
        options,
        incoming(
            state,
            payload,
            requestTime,
            () -> cassandra.processPrepared(statement, state, options, payload, requestTime)));
  }

  @Override
  public ResultMessage processBatch(
      BatchStatement batch,
      QueryState state,
      BatchQueryOptions options,
      Map<String, ByteBuffer> payload,
      Dispatcher.RequestTime requestTime) {
    return router.routeBatch(
        batch,
        options,
        incoming(
            state,
            payload,
            requestTime,
            () -> cassandra.processBatch(batch, state, options, payload, requestTime)));
  }
}
