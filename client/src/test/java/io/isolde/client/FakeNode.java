// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.AllNodesFailedException;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.DriverTimeoutException;
import com.datastax.oss.driver.api.core.NodeUnavailableException;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.ExecutionInfo;
import com.datastax.oss.driver.api.core.cql.ResultSet;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** A node that answers as it is told, and writes down what it was sent. */
final class FakeNode implements TransactionRequests {
  static final Node NODE = proxy(Node.class, "node-1", Map.of());
  static final Node OTHER_NODE = proxy(Node.class, "node-2", Map.of());
  static final long COMMIT_TIMESTAMP = 42;
  static final long START_TIMESTAMP = 7;

  /**
   * First words of the requests, in order: of one that begins a transaction with a statement both,
   * of writes that are committed at once BATCH and COMMIT.
   */
  final List<String> transcript = new ArrayList<>();

  /** The nodes that were asked to end a transaction, in order. */
  final List<Node> enders = new ArrayList<>();

  /** The nodes that were asked to begin one, in order; null where any would do. */
  final List<Node> starters = new ArrayList<>();

  /** All requests as they came. */
  final List<String> requests = new ArrayList<>();

  /** Ids named by START TRANSACTION. */
  final Set<UUID> transactions = new HashSet<>();

  private boolean isAlone;
  private boolean isWarning;
  private final Map<String, Deque<RuntimeException>> failures = new HashMap<>();

  /** The next requests that begin with the word fail so, one after the other. */
  FakeNode failing(String word, RuntimeException... errors) {
    failures.computeIfAbsent(word, key -> new ArrayDeque<>()).addAll(List.of(errors));
    return this;
  }

  /** As {@link #failing(String, RuntimeException...)}. */
  FakeNode failing(String word, List<? extends RuntimeException> errors) {
    return failing(word, errors.toArray(RuntimeException[]::new));
  }

  /** There is no other node. */
  FakeNode alone() {
    isAlone = true;
    return this;
  }

  /** Answers have warnings, and so no payload. */
  FakeNode warning() {
    isWarning = true;
    return this;
  }

  @Override
  public CompletionStage<Started> start(UUID transaction, Node node, String cql) {
    transactions.add(transaction);
    starters.add(node);
    return answer(cql, new Started(NODE, START_TIMESTAMP));
  }

  @Override
  public CompletionStage<CommitResult> end(Binding binding, String cql) {
    enders.add(binding.node());
    boolean commits = cql.equals("COMMIT");
    return answer(
        cql,
        new CommitResult(
            binding.transaction(),
            commits,
            commits ? OptionalLong.of(COMMIT_TIMESTAMP) : OptionalLong.empty()));
  }

  @Override
  public CompletionStage<CommitResult> resolve(Binding binding, long startTimestamp) {
    return answer("SETTLE", new CommitResult(binding.transaction(), true, OptionalLong.of(1)));
  }

  @Override
  public CompletionStage<CommitResult> commit(
      Binding binding, BatchStatement writes, OptionalLong resolvedStart) {
    try {
      record(text(writes));
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
    return resolvedStart.isPresent()
        ? resolve(binding, resolvedStart.getAsLong())
        : end(binding, "COMMIT");
  }

  @Override
  public CompletionStage<AsyncResultSet> executeAsync(Statement<?> bound) {
    try {
      recordStart(bound);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
    return answer(
        text(bound),
        proxy(
            AsyncResultSet.class,
            "no rows",
            Map.of("hasMorePages", false, "getExecutionInfo", executionInfo())));
  }

  private static String text(Statement<?> bound) {
    if (bound instanceof BatchStatement batch) {
      StringBuilder all = new StringBuilder("BATCH");
      batch.forEach(write -> all.append("; ").append(((SimpleStatement) write).getQuery()));
      return all.toString();
    }
    return ((SimpleStatement) bound).getQuery();
  }

  private void recordStart(Statement<?> bound) {
    ByteBuffer start = bound.getCustomPayload().get(Binding.START_KEY);
    if (start != null) {
      ByteBuffer id = bound.getCustomPayload().get(Binding.PAYLOAD_KEY);
      transactions.add(UUID.fromString(ascii(id)));
      starters.add(bound.getNode());
      record(ascii(start));
    }
  }

  private static String ascii(ByteBuffer bytes) {
    return StandardCharsets.US_ASCII.decode(bytes.duplicate()).toString();
  }

  private ExecutionInfo executionInfo() {
    Map<String, ByteBuffer> payload =
        isWarning
            ? Map.of()
            : Map.of(
                Binding.START_TIMESTAMP_KEY,
                ByteBuffer.wrap(("" + START_TIMESTAMP).getBytes(StandardCharsets.US_ASCII)));
    return proxy(
        ExecutionInfo.class,
        "execution info",
        Map.of("getCoordinator", NODE, "getIncomingPayload", payload));
  }

  @Override
  public Node nodeFor(Statement<?> statement) {
    return NODE;
  }

  @Override
  public Node otherThan(Node node) {
    return isAlone ? node : OTHER_NODE;
  }

  @Override
  public ResultSet execute(Statement<?> bound) {
    recordStart(bound);
    record(text(bound));
    return proxy(
        ResultSet.class,
        "no rows",
        Map.of("isFullyFetched", true, "getExecutionInfo", executionInfo()));
  }

  private <T> CompletionStage<T> answer(String cql, T value) {
    try {
      record(cql);
      return CompletableFuture.completedFuture(value);
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private void record(String cql) {
    String word = cql.split(" ", 2)[0];
    transcript.add(word);
    requests.add(cql);
    RuntimeException failure = failures.getOrDefault(word, new ArrayDeque<>()).poll();
    if (failure != null) {
      throw failure;
    }
  }

  static InvalidQueryException refusal(ErrorCode code, boolean retryable, Outcome outcome) {
    return refusal(
        "It did not work. [isolde code=%s retryable=%s outcome=%s]"
            .formatted(code, retryable, outcome.word()));
  }

  static InvalidQueryException refusal(String message) {
    return new InvalidQueryException(NODE, message);
  }

  static InvalidQueryException conflict() {
    return refusal(ErrorCode.CONFLICT, true, Outcome.NOT_COMMITTED);
  }

  static InvalidQueryException notFound() {
    return refusal(ErrorCode.TRANSACTION_NOT_FOUND, false, Outcome.UNKNOWN);
  }

  static DriverException timeout() {
    return new DriverTimeoutException("Query timed out after PT2S");
  }

  static DriverException unreachable() {
    return AllNodesFailedException.fromErrors(
        List.of(Map.entry(NODE, new NodeUnavailableException(NODE))));
  }

  /** An error as a result set gives it that could not fetch a page for this statement. */
  static DriverException ofPage(DriverException error, Statement<?> statement) {
    error.setExecutionInfo(
        proxy(ExecutionInfo.class, "execution info", Map.of("getRequest", statement)));
    return error;
  }

  /** An object that answers the given methods, and fails in others. */
  private static <T> T proxy(Class<T> type, String name, Map<String, Object> answers) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (self, method, arguments) ->
                switch (method.getName()) {
                  case "toString" -> name;
                  case "hashCode" -> name.hashCode();
                  case "equals" -> self == arguments[0];
                  default -> {
                    if (!answers.containsKey(method.getName())) {
                      throw new UnsupportedOperationException(method.toString());
                    }
                    yield answers.get(method.getName());
                  }
                }));
  }
}
