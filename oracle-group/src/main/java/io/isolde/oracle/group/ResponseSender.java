// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.Decision;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.raft.transport.PeerConnection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells those who asked what came of an entry of the log. Commits whose coordinators want that are
 * applied first, which saves a round trip; a few at a time only, lest the leader does the work of
 * all coordinators, and not for long: a decision is told by then in any case. Where replicas are so
 * far away that this takes longer, none are applied for a while, since they would be waited for in
 * vain.
 */
final class ResponseSender {
  private static final Logger log = LoggerFactory.getLogger(ResponseSender.class);

  /** What comes on top of them is left to their coordinators. */
  static final int MAX_APPLYING = 4;

  /** Then one is tried again. */
  static final long BACK_OFF_MILLIS = 5_000;

  private final ReplicaHost host;
  private final Supplier<CommitApplier> applier;
  private final Function<List<Long>, Optional<Stable>> reportApplied;
  private final BiConsumer<Long, Request> answerWhenStable;
  private final Semaphore applying = new Semaphore(MAX_APPLYING);
  private volatile long backOffUntilNanos = System.nanoTime();

  /**
   * @param reportApplied that commits are applied; empty if that does not do for an answer
   * @param answerWhenStable answers a request when a timestamp is stable
   */
  ResponseSender(
      ReplicaHost host,
      Supplier<CommitApplier> applier,
      Function<List<Long>, Optional<Stable>> reportApplied,
      BiConsumer<Long, Request> answerWhenStable) {
    this.host = host;
    this.applier = applier;
    this.reportApplied = reportApplied;
    this.answerWhenStable = answerWhenStable;
  }

  /** Tells all, and sends once for each connection. */
  void answer(EntryMessage message, List<Answer> answers) {
    Set<PeerConnection> connections = new HashSet<>();
    for (int i = 0; i < message.items().size(); i++) {
      EntryMessage.Item item = message.items().get(i);
      if (item.request() != null && !isAppliedFirst(item, answers.get(i))) {
        answer(item, answers.get(i));
        connections.add(item.request().connection());
      }
    }
    connections.forEach(PeerConnection::flush);
  }

  private void answer(EntryMessage.Item item, Answer answer) {
    if (item.command() instanceof Command.Applied applied) {
      answerWhenStable.accept(applied.commitTimestamp(), item.request());
    } else {
      item.request().write(answer);
    }
  }

  private boolean isAppliedFirst(EntryMessage.Item item, Answer answer) {
    if (item.request().wantsApplied()
        && item.command() instanceof Command.Commit commit
        && answer instanceof Answer.Decided decided
        && decided.decision() instanceof Decision.Committed committed
        && commit.writeSet().length > 0
        && System.nanoTime() - backOffUntilNanos >= 0
        && host.mayApply(committed)
        && applying.tryAcquire()) {
      apply(commit.writeSet(), committed.commitTimestamp(), item.request(), answer);
      return true;
    }
    return false;
  }

  private void apply(byte[] writeSet, long commitTimestamp, Request request, Answer answer) {
    var unused =
        started(writeSet, commitTimestamp)
            .whenComplete((isApplied, failure) -> applying.release())
            .copy() // Of one that the time-out has completed nothing would be released.
            .orTimeout(CommitApplier.MAX_MILLIS, TimeUnit.MILLISECONDS)
            .handle(
                (isApplied, failure) ->
                    failure == null
                        ? stableAfter(commitTimestamp, isApplied)
                        : failed(commitTimestamp, failure))
            .exceptionally(failure -> failed(commitTimestamp, failure))
            .thenAccept(stable -> answer(request, answer, stable));
  }

  /** Whatever happens there, the decision must be told. */
  private CompletableFuture<Boolean> started(byte[] writeSet, long commitTimestamp) {
    try {
      return applier.get().apply(commitTimestamp, writeSet);
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private Stable stableAfter(long commitTimestamp, boolean isApplied) {
    Optional<Stable> stable =
        isApplied ? reportApplied.apply(List.of(commitTimestamp)) : Optional.empty();
    return stable.orElse(Stable.NOT_KNOWN);
  }

  private Stable failed(long commitTimestamp, Throwable failure) {
    if (failure instanceof TimeoutException) {
      backOffUntilNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(BACK_OFF_MILLIS);
      log.debug(
          "The commit at {} is not applied in time; its coordinator does it", commitTimestamp);
    } else {
      log.error(
          "The commit at {} could not be applied by the oracle's leader; its coordinator does it",
          commitTimestamp,
          failure);
    }
    return Stable.NOT_KNOWN;
  }

  private static void answer(Request request, Answer answer, Stable applied) {
    request.write(answer, applied);
    request.connection().flush();
  }
}
