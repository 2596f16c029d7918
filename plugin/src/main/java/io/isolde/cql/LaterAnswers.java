// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.answer.Answers;
import io.isolde.replication.PrivateField;
import io.isolde.replication.StrongKeyspaces;
import io.isolde.transaction.Tables;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.apache.cassandra.cql3.CQLStatement;
import org.apache.cassandra.cql3.QueryEvents;
import org.apache.cassandra.cql3.QueryHandler;
import org.apache.cassandra.cql3.QueryProcessor;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.service.CassandraDaemon;
import org.apache.cassandra.service.NativeTransportService;
import org.apache.cassandra.service.StorageService;
import org.apache.cassandra.tracing.Tracing;
import org.apache.cassandra.transport.LaterDispatcher;
import org.apache.cassandra.transport.Message;
import org.apache.cassandra.transport.PipelineConfigurator;
import org.apache.cassandra.transport.Server;
import org.apache.cassandra.transport.messages.BatchMessage;
import org.apache.cassandra.transport.messages.ExecuteMessage;
import org.apache.cassandra.transport.messages.QueryMessage;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.MD5Digest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes whose answers wait for a log or for replicas hold no thread meanwhile. It takes a
 * dispatcher of ours in the place of Cassandra's, for connections from then on; without it, threads
 * wait as in Cassandra.
 */
final class LaterAnswers {
  private static final Logger log = LoggerFactory.getLogger(LaterAnswers.class);

  private static final Pattern COMMIT = control("COMMIT");

  /** Of what does not read the past: for that the oracle is asked and waited for. */
  private static final Pattern START = control("START(?!.*\\bAS\\b)");

  /** With room for what may follow the first word. */
  private static final int MAX_CONTROL_CHARACTERS = 80;

  private final StrongKeyspaces strong;
  private final PreparedControlStatements control;

  /** Null until it is installed. */
  private volatile LaterDispatcher dispatcher;

  LaterAnswers(StrongKeyspaces strong, PreparedControlStatements control) {
    this.strong = strong;
    this.control = control;
  }

  /** Returns the answer, or what stands for one that comes later. */
  static ResultMessage answer(CQLStatement statement, CompletableFuture<ResultMessage> answer) {
    // A START waits for the oracle; while that is silent, strong writes need the places.
    boolean isLong =
        statement instanceof ControlStatement.Watch || statement instanceof ControlStatement.Start;
    ResultMessage now =
        answer.isDone() || isListenedTo() ? null : LaterDispatcher.defer(answer, isLong);
    return now == null ? Answers.await(answer) : now;
  }

  /** Who listens to requests, or traces one, hears of its success when the handler returns. */
  private static boolean isListenedTo() {
    return QueryEvents.instance.hasListeners() || Tracing.isTracing();
  }

  /** Whether the request that this thread handles may be answered when it holds no thread. */
  static boolean mayComeLater() {
    return LaterDispatcher.mayDefer() && !isListenedTo();
  }

  /** How many requests wait for their answers, of those that hold no thread meanwhile. */
  long unanswered() {
    return dispatcher == null ? 0 : dispatcher.unanswered();
  }

  /** Takes the place of Cassandra's dispatcher, as soon as there are servers. */
  void install() {
    try {
      PrivateField servers = PrivateField.of(NativeTransportService.class, "servers");
      PrivateField configurator = PrivateField.of(Server.class, "pipelineConfigurator");
      PrivateField ofServer = PrivateField.of(Server.class, "dispatcher");
      PrivateField ofConnections = PrivateField.of(PipelineConfigurator.class, "dispatcher");
      LaterDispatcher ours = new LaterDispatcher(this::startsOnly);
      NativeTransportService service =
          CassandraDaemon.getInstanceForTesting().nativeTransportService();
      for (Object server : (Collection<?>) servers.get(service)) {
        ofServer.set(server, ours);
        ofConnections.set(configurator.get(server), ours);
      }
      dispatcher = ours;
    } catch (RuntimeException | LinkageError e) {
      log.warn(
          "Writes hold a thread until they are answered, since this Cassandra has no place for"
              + " another dispatcher. All else works.",
          e);
    }
  }

  /**
   * Whether a request only starts what is answered later: it waits for nothing, as a rule. Called
   * on an event loop, so it parses nothing. Not a statement that START goes with, nor a START that
   * is bound to its connection: they wait for the timestamp.
   */
  private boolean startsOnly(Message.Request request) {
    Map<String, ByteBuffer> payload = request.getCustomPayload();
    boolean starts = payload != null && payload.containsKey(TransactionPayload.START);
    boolean isWatched =
        QueryEvents.instance.hasListeners() || StorageService.instance.getTraceProbability() > 0;
    if (starts || isWatched) {
      return false;
    }
    boolean commits = payload != null && payload.containsKey(TransactionPayload.COMMIT);
    boolean isInTransaction =
        payload != null && payload.containsKey(TransactionPayload.TRANSACTION);
    if (request instanceof QueryMessage query) {
      return commits
          || isControl(query.query, isInTransaction)
          || WatchStatements.mayBe(query.query);
    }
    if (request instanceof ExecuteMessage execute) {
      return commits
          || isControlOrWatch(execute.statementId, isInTransaction)
          || (!isInTransaction && isWriteOfOurs(execute.statementId));
    }
    return request instanceof BatchMessage batch
        && (commits
            || (!isInTransaction && batch.queryOrIdList.stream().allMatch(this::isWriteOfOurs)));
  }

  private boolean isControlOrWatch(MD5Digest id, boolean isInTransaction) {
    QueryHandler.Prepared own = control.get(id);
    return own != null
        && (own.statement instanceof ControlStatement.Commit
            || own.statement instanceof ControlStatement.Watch
            || (isInTransaction
                && own.statement instanceof ControlStatement.Start start
                && start.isOfNow()));
  }

  static boolean isControl(String text, boolean isInTransaction) {
    return text.length() <= MAX_CONTROL_CHARACTERS
        && (COMMIT.matcher(text).matches() || (isInTransaction && START.matcher(text).matches()));
  }

  private static Pattern control(String word) {
    return Pattern.compile("\\s*" + word + "\\b.*", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
  }

  /** Texts are not: they would have to be parsed. */
  private boolean isWriteOfOurs(Object queryOrId) {
    QueryHandler.Prepared prepared =
        queryOrId instanceof MD5Digest id ? QueryProcessor.instance.getPrepared(id) : null;
    return prepared != null && isWriteOfOurs(prepared.statement);
  }

  private boolean isWriteOfOurs(CQLStatement statement) {
    if (statement instanceof BatchStatement batch) {
      return batch.getStatements().stream().allMatch(this::isWriteOfOurs);
    }
    if (!(statement instanceof ModificationStatement write)) {
      return false;
    }
    return Tables.isTransactional(write.metadata())
        ? !write.requiresRead() && !write.hasConditions()
        : strong.isMeant(write.keyspace()); // Its leader reads.
  }
}
