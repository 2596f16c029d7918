// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.config.IsoldeConfig;
import io.isolde.replication.StatementTexts;
import io.isolde.replication.StrongByName;
import io.isolde.replication.StrongStatements;
import io.isolde.statement.ClientRequest;
import io.isolde.transaction.barrier.TableBarrier;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.PasswordObfuscator;
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
 * The door through which every request of every client comes: {@link
 * io.isolde.install.IsoldeFormatFactory} makes it this node's. Isolde's statements are recognised
 * before Cassandra's parser; statements on transactional tables are run as transactions; everything
 * else goes to Cassandra as if Isolde were not there.
 */
public final class IsoldeQueryHandler implements QueryHandler {
  private final QueryProcessor cassandra = QueryProcessor.instance;
  private final PreparedControlStatements preparedControl = new PreparedControlStatements();
  private final StatementTexts texts = new StatementTexts();
  private final StrongByName strongByName;
  private final StatementRouter router;

  /**
   * Made early in the start of the node.
   *
   * @throws IsoldeConfig.ConfigurationException if isolde.yaml is refused; it stops the start
   */
  public IsoldeQueryHandler() {
    TableBarrier barrier = new TableBarrier();
    IsoldeConfig config = IsoldeConfig.ofThisNode();
    StrongStatements strong = new StrongStatements(config, texts);
    NodeStart node =
        new NodeStart(config, barrier, strong.keyspaces(), preparedControl).inBackground();
    strongByName = node.strongByName();
    router = new StatementRouter(barrier, node, strong);
  }

  @Override
  public CQLStatement parse(String text, QueryState state, QueryOptions options) {
    Optional<ControlStatement> control = StatementParser.parse(text);
    if (control.isPresent()) {
      return control.get();
    }
    router.connections().said(text, state.getClientState());
    if (WatchStatements.isWatch(text)) {
      return WatchStatements.prepare(
          text, state.getClientState().cloneWithKeyspaceIfSet(options.getKeyspace()));
    }
    if (ForUpdate.isMeant(text)) {
      return ForUpdate.prepare(
          text, state.getClientState().cloneWithKeyspaceIfSet(options.getKeyspace()));
    }
    if (BlockStatements.isBlock(text)) {
      return parseBlock(text, state.getClientState().cloneWithKeyspaceIfSet(options.getKeyspace()));
    }
    try {
      CQLStatement statement =
          cassandra.parse(rewritten(text, state.getClientState()), state, options);
      texts.remember(statement, text, false);
      return statement;
    } catch (RuntimeException e) {
      return parseAfter(e, text, state.getClientState(), options);
    }
  }

  private static String rewritten(String text, ClientState client) {
    return UniqueIndexStatements.rewrite(AsOfSnapshot.rewrite(text, client));
  }

  private static CQLStatement parseBlock(String text, ClientState client) {
    try {
      return BlockStatements.prepare(text, client);
    } catch (RuntimeException e) {
      return unparsable(text, e);
    }
  }

  private static CQLStatement parseAfter(
      RuntimeException refusal, String text, ClientState client, QueryOptions options) {
    try {
      return LateRefusals.prepare(
              text, client.cloneWithKeyspaceIfSet(options.getKeyspace()), refusal)
          .orElseGet(() -> unparsable(text, refusal));
    } catch (RuntimeException again) {
      return unparsable(text, again);
    }
  }

  /** Without a statement Cassandra hides passwords from its audit log, so then there is none. */
  private static CQLStatement unparsable(String text, RuntimeException e) {
    if (!FailedStatement.endsTransaction(text)
        || text.toLowerCase(Locale.ROOT).contains(PasswordObfuscator.PASSWORD_TOKEN)) {
      throw e;
    }
    return new ControlStatement.Unparsable(e);
  }

  @Override
  public ResultMessage process(
      CQLStatement statement,
      QueryState state,
      QueryOptions options,
      Map<String, ByteBuffer> payload,
      Dispatcher.RequestTime requestTime) {
    ClientRequest request = new ClientRequest(state, requestTime);
    return run(
        request,
        TransactionPayload.of(payload),
        statement,
        options,
        () -> {
          if (statement instanceof ControlStatement.Unparsable unparsable) {
            throw unparsable.error();
          }
          prepare(statement, options);
        },
        replaced -> cassandra.process(replaced, state, options, payload, requestTime));
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
    if (control.isPresent()) {
      if (control.get() instanceof ControlStatement.Unparsable unparsable) {
        throw unparsable.error();
      }
      return preparedControl.prepare(text, control.get(), state);
    }
    if (WatchStatements.isWatch(text)) {
      return preparedControl.prepare(text, WatchStatements.prepare(text, state), state);
    }
    if (ForUpdate.isMeant(text)) {
      return preparedControl.prepareLocking(text, state);
    }
    if (BlockStatements.isBlock(text)) {
      return preparedControl.prepare(text, BlockStatements.prepare(text, state), state);
    }
    try {
      return cassandra.prepare(rewritten(text, state), state, payload);
    } catch (InvalidRequestException e) {
      Optional<CQLStatement> late = LateRefusals.prepare(text, state, e);
      return preparedControl.prepareLate(text, late.orElseThrow(() -> e), state);
    }
  }

  @Override
  public QueryHandler.Prepared getPrepared(MD5Digest id) {
    QueryHandler.Prepared prepared = cassandra.getPrepared(id);
    if (prepared == null) {
      return preparedControl.getFresh(id);
    }
    texts.remember(prepared.statement, prepared.rawCQLStatement, true);
    return prepared;
  }

  @Override
  public ResultMessage processPrepared(
      CQLStatement statement,
      QueryState state,
      QueryOptions options,
      Map<String, ByteBuffer> payload,
      Dispatcher.RequestTime requestTime) {
    return run(
        new ClientRequest(state, requestTime),
        TransactionPayload.of(payload),
        statement,
        options,
        () -> {
          if (options.getValues().size() != statement.getBindVariables().size()) {
            throw new InvalidRequestException(
                String.format(
                    "there were %d markers(?) in CQL but %d bound variables",
                    statement.getBindVariables().size(), options.getValues().size()));
          }
        },
        replaced -> cassandra.processPrepared(replaced, state, options, payload, requestTime));
  }

  /** What fails, also of the checks before it is routed, may take its transaction with it. */
  private ResultMessage run(
      ClientRequest request,
      TransactionPayload payload,
      CQLStatement statement,
      QueryOptions options,
      Runnable check,
      Function<CQLStatement, ResultMessage> onCassandra) {
    return LaterAnswers.answer(
        statement,
        router.run(
            statement,
            payload,
            request.state().getClientState(),
            () -> {
              check.run();
              CQLStatement replaced =
                  strongByName.replace(statement, request.state().getClientState());
              return router.route(
                  replaced,
                  options,
                  new Incoming(
                      request.state(), payload, request, () -> onCassandra.apply(replaced)));
            }));
  }

  @Override
  public ResultMessage processBatch(
      BatchStatement batch,
      QueryState state,
      BatchQueryOptions options,
      Map<String, ByteBuffer> payload,
      Dispatcher.RequestTime requestTime) {
    Incoming incoming =
        new Incoming(
            state,
            TransactionPayload.of(payload),
            new ClientRequest(state, requestTime),
            () -> cassandra.processBatch(batch, state, options, payload, requestTime));
    return LaterAnswers.answer(
        batch,
        router.run(
            batch,
            incoming.payload(),
            incoming.client(),
            () -> router.routeList(batch, options, () -> textsOf(options), incoming)));
  }

  /** The texts of the statements; empty ones of those that are not prepared any more. */
  private List<String> textsOf(BatchQueryOptions options) {
    List<String> found = new ArrayList<>();
    for (Object queryOrId : options.getQueryOrIdList()) {
      if (queryOrId instanceof MD5Digest id) {
        QueryHandler.Prepared prepared = cassandra.getPrepared(id);
        found.add(prepared == null ? "" : prepared.rawCQLStatement);
      } else {
        found.add((String) queryOrId);
      }
    }
    return found;
  }
}
