// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.group.CoordinatorSession;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/**
 * Transactions of some clients, each of which begins one, commits it, has it applied, and goes on
 * with the next, until it is closed; with clocks for the time in which nobody succeeds.
 */
final class TransactionLoad implements AutoCloseable {
  private static final int ROWS = 10;
  private static final long AFTER_FAILURE_MILLIS = 10;

  private final Coordinators coordinators;
  private final GapClock starts = new GapClock();
  private final GapClock commits = new GapClock();
  private final LongAdder committed = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final AtomicReference<String> lastFailure = new AtomicReference<>("none");
  private final Ending ending;

  TransactionLoad(Coordinators coordinators, int clients) {
    this.coordinators = coordinators;
    this.ending = new Ending(clients);
    for (int client = 0; client < clients; client++) {
      next(client);
    }
  }

  private void next(int client) {
    if (ending.isDue()) {
      ending.ended();
      return;
    }
    CoordinatorSession session = coordinators.session(client);
    var unused =
        session
            .begin()
            .thenCompose(start -> begun(client, session, start))
            .whenComplete(
                (done, error) -> {
                  if (error == null) {
                    next(client);
                  } else {
                    failed(client, error);
                  }
                });
  }

  private CompletableFuture<Void> begun(int client, CoordinatorSession session, long start) {
    starts.success();
    KeyChooser rows = KeyChooser.uniformOfThisThread();
    long[] reads = new long[ROWS];
    long[] writes = new long[ROWS];
    rows.fill(reads);
    rows.fill(writes);
    UUID id = new UUID(rows.next(), rows.next());
    return session
        .commit(new CommitRequest(id, IsolationLevel.SERIALIZABLE, start, reads, writes, writes))
        .whenComplete((decision, error) -> resolveIfUnknown(client, session, id, error))
        .thenCompose(decision -> decided(session, decision))
        .whenComplete((done, error) -> session.ended(start));
  }

  /**
   * A commit without an answer may be decided; until it is known, and applied, no later commit
   * becomes visible. So coordinators ask for an abort until they are told what it is.
   */
  private void resolveIfUnknown(int client, CoordinatorSession session, UUID id, Throwable error) {
    if (error == null || ending.isDue()) {
      return;
    }
    var unused =
        coordinators
            .client(client)
            .execute(new Command.Abort(id, 0))
            .whenComplete(
                (answer, again) -> {
                  if (again != null) {
                    later(() -> resolveIfUnknown(client, session, id, again));
                  } else if (answer instanceof Answer.Ended ended
                      && ended.outcome() instanceof Outcome.Committed committed) {
                    var unusedApplied = session.applied(committed.commitTimestamp());
                  }
                });
  }

  private static void later(Runnable step) {
    CompletableFuture.delayedExecutor(AFTER_FAILURE_MILLIS, TimeUnit.MILLISECONDS).execute(step);
  }

  private CompletableFuture<Void> decided(CoordinatorSession session, Decision decision) {
    if (!(decision instanceof Decision.Committed commit)) {
      return CompletableFuture.completedFuture(null); // A conflict is an answer like any other.
    }
    commits.success();
    committed.increment();
    return session.applied(commit.commitTimestamp());
  }

  private void failed(int client, Throwable error) {
    if (ending.isDue()) {
      ending.ended();
      return;
    }
    failed.increment();
    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
    lastFailure.set(String.valueOf(cause.getMessage()));
    later(() -> next(client));
  }

  /** Of start timestamps. */
  GapClock starts() {
    return starts;
  }

  /** Of commits. */
  GapClock commits() {
    return commits;
  }

  long committed() {
    return committed.sum();
  }

  /** Requests that got an error, or no answer within the deadline; conflicts are none. */
  long failed() {
    return failed.sum();
  }

  String lastFailure() {
    return lastFailure.get();
  }

  /** Waits until the transactions that are under way have ended, for some time. */
  @Override
  public void close() {
    ending.close();
  }
}
