// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.cql.ExecutionInfo;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.servererrors.CoordinatorException;
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
  private final Requests requests;
  private final UUID transaction;
  private final String startCql;

  /** Of who has claimed it; null while it is to be claimed. Guarded by this. */
  private CompletableFuture<Requests.Started> started;

  /** Where a first statement failed: the transaction may be open there. Guarded by this. */
  private Node lastNode;

  Opening(Requests requests, UUID transaction, String startCql) {
    this.requests = requests;
    this.transaction = transaction;
    this.startCql = startCql;
  }

  /** Returns whether the caller has to begin the transaction. */
  synchronized boolean claim() {
    if (started != null) {
      return false;
    }
    started = new CompletableFuture<>();
    return true;
  }

  /** The request of who has claimed it: to the node where it was tried before, if it was. */
  Statement<?> first(Statement<?> statement) {
    Node before = lastNode();
    Node node = before == null ? requests.nodeFor(statement) : before;
    return new Binding(transaction, node).bindStarting(statement, startCql);
  }

  private synchronized Node lastNode() {
    return lastNode;
  }

  /** Completes when it is begun, or fails when that has to be claimed again. */
  synchronized CompletableFuture<Binding> begun() {
    return started.thenApply(now -> new Binding(transaction, now.node()));
  }

  /** The first statement was answered. */
  CompletionStage<Void> answered(ExecutionInfo info) {
    Node node = info.getCoordinator();
    OptionalLong startTimestamp = Binding.startTimestamp(info);
    if (startTimestamp.isEmpty()) { // An answer with warnings can't tell it.
      return send(node);
    }
    begun(new Requests.Started(node, startTimestamp.getAsLong()));
    return CompletableFuture.completedFuture(null);
  }

  /** The first statement failed; whether the transaction is begun is not known. */
  void failed(Throwable error) {
    CompletableFuture<Requests.Started> claimed;
    synchronized (this) {
      claimed = started;
      started = null;
      if (error instanceof CoordinatorException ofNode) {
        lastNode = ofNode.getCoordinator();
      }
    }
    claimed.completeExceptionally(error);
  }

  /** Begins it by a request of its own, unless it is begun. */
  CompletionStage<Void> begin() {
    return claim() ? send(lastNode()) : begun().thenApply(binding -> null);
  }

  private CompletionStage<Void> send(Node node) {
    return Stages.of(() -> requests.start(transaction, node, startCql))
        .whenComplete(
            (answer, error) -> {
              if (error == null) {
                begun(answer);
              } else {
                failed(Stages.unwrapped(error));
              }
            })
        .thenApply(answer -> null);
  }

  private void begun(Requests.Started answer) {
    CompletableFuture<Requests.Started> claimed;
    synchronized (this) {
      claimed = started;
    }
    claimed.complete(answer);
  }

  /** Where the transaction is open, or may be; nowhere if nothing was sent. */
  synchronized CompletionStage<Optional<Node>> holder() {
    Optional<Node> maybe = Optional.ofNullable(lastNode);
    return started == null
        ? CompletableFuture.completedFuture(maybe)
        : started.handle((answer, error) -> error == null ? Optional.of(answer.node()) : maybe);
  }

  /** Empty until it is known. */
  synchronized OptionalLong startTimestamp() {
    boolean isKnown = started != null && started.isDone() && !started.isCompletedExceptionally();
    return isKnown ? OptionalLong.of(started.join().startTimestamp()) : OptionalLong.empty();
  }
}
