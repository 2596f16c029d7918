// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.cql.ExecutionInfo;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.servererrors.CoordinatorException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * START TRANSACTION, as a request of its own or with the first statement. Whoever claims it sends
 * it, and tells what came of it; all others wait for that, as the node that answers is the one that
 * holds the transaction. Thread-safe.
 */
final class Opening {
  /**
   * Of a first statement whose answer does not tell the start timestamp. Far below any idle limit:
   * if the transaction had expired, START would begin another one, without what was written.
   */
  private static final Duration MAX_FIRST_STATEMENT = Duration.ofSeconds(5);

  private final TransactionRequests requests;
  private final Timing timing;
  private final UUID transaction;
  private final String startCql;

  /** Of who has claimed it; null while it is to be claimed. Guarded by this. */
  private CompletableFuture<TransactionRequests.Started> started;

  /** Where it was tried to begin it: it may be open there. Guarded by this. */
  private Node lastNode;

  /** When the first statement was sent. Guarded by this. */
  private long firstNanos;

  Opening(TransactionRequests requests, Timing timing, UUID transaction, String startCql) {
    this.requests = requests;
    this.timing = timing;
    this.transaction = transaction;
    this.startCql = startCql;
  }

  /**
   * Returns what whoever begins it will tell; it fails when that has to be claimed again. Empty if
   * it is for the caller to begin it: with {@link #first}, then {@link #answered} or {@link
   * #failed}.
   */
  synchronized Optional<CompletableFuture<Binding>> claim() {
    if (started == null) {
      started = new CompletableFuture<>();
      return Optional.empty();
    }
    return Optional.of(started.thenApply(now -> new Binding(transaction, now.node())));
  }

  /** The statement with START: to the node where it was tried before, if it was. */
  Statement<?> first(Statement<?> statement) {
    Node before = lastNode();
    Node node = before == null ? requests.nodeFor(statement) : before;
    synchronized (this) {
      lastNode = node;
      firstNanos = timing.nanoTime();
    }
    return new Binding(transaction, node).bindStarting(statement, startCql);
  }

  private synchronized Node lastNode() {
    return lastNode;
  }

  /** The first statement was answered. */
  CompletionStage<Void> answered(ExecutionInfo info) {
    try {
      Node node = info.getCoordinator();
      OptionalLong startTimestamp = Binding.startTimestamp(info);
      if (startTimestamp.isEmpty()) { // An answer with warnings can't tell it.
        return startAgain(node);
      }
      begun(new TransactionRequests.Started(node, startTimestamp.getAsLong()));
      return CompletableFuture.completedFuture(null);
    } catch (RuntimeException e) {
      failed(e);
      throw e;
    }
  }

  private CompletionStage<Void> startAgain(Node node) {
    if (timing.since(firstNanos()).compareTo(MAX_FIRST_STATEMENT) > 0) {
      IsoldeException late =
          IsoldeException.ofClient(
              ErrorCode.REQUEST_FAILED,
              true,
              Outcome.NOT_COMMITTED,
              transaction,
              "The first statement took so long that its transaction may have expired.",
              null);
      failed(late);
      return CompletableFuture.failedFuture(late);
    }
    return send(node).thenApply(begun -> null);
  }

  private synchronized long firstNanos() {
    return firstNanos;
  }

  /** The first statement failed; whether the transaction is begun is not known. */
  void failed(Throwable error) {
    CompletableFuture<TransactionRequests.Started> claimed;
    synchronized (this) {
      claimed = started;
      started = null;
      if (error instanceof CoordinatorException ofNode) {
        lastNode = ofNode.getCoordinator();
      }
    }
    claimed.completeExceptionally(error);
  }

  /** Begins it by a request of its own, unless it is begun, or another statement begins it now. */
  CompletionStage<Binding> begin() {
    Optional<CompletableFuture<Binding>> byOthers = claim();
    return byOthers.isPresent()
        ? byOthers.get().exceptionallyCompose(failed -> beginAgain())
        : send(lastNode());
  }

  /**
   * After a failure: of many who wait one begins it again, and all of them have what comes of it.
   */
  CompletionStage<Binding> beginAgain() {
    Optional<CompletableFuture<Binding>> byOthers = claim();
    return byOthers.isPresent() ? byOthers.get() : send(lastNode());
  }

  private CompletionStage<Binding> send(Node node) {
    return Stages.of(() -> requests.start(transaction, node, startCql))
        .whenComplete(
            (answer, error) -> {
              if (error == null) {
                begun(answer);
              } else {
                failed(Stages.unwrapped(error));
              }
            })
        .thenApply(answer -> new Binding(transaction, answer.node()));
  }

  private void begun(TransactionRequests.Started answer) {
    CompletableFuture<TransactionRequests.Started> claimed;
    synchronized (this) {
      claimed = started;
    }
    claimed.complete(answer);
  }

  /** Where the transaction is open, or may be; nowhere if nothing was sent. */
  synchronized CompletionStage<Optional<Node>> holder() {
    return started == null
        ? CompletableFuture.completedFuture(Optional.ofNullable(lastNode))
        : started.handle(
            (answer, error) -> Optional.ofNullable(error == null ? answer.node() : lastNode()));
  }

  /** Empty until it is known. */
  synchronized OptionalLong startTimestamp() {
    boolean isKnown = started != null && started.isDone() && !started.isCompletedExceptionally();
    return isKnown ? OptionalLong.of(started.join().startTimestamp()) : OptionalLong.empty();
  }
}
