// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.failover;

import io.isolde.bench.oracle.Coordinators;
import io.isolde.bench.oracle.KeyChooser;
import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.group.CoordinatorSession;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
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
  private final AtomicInteger count = new AtomicInteger();
  private final LongAdder committed = new LongAdder();
  private final Clients clients;
  private volatile boolean isOver;

  TransactionLoad(Coordinators coordinators, int clientCount) {
    this.coordinators = coordinators;
    this.clients = new Clients(this::transaction, clientCount, 0);
  }

  private CompletableFuture<Void> transaction() {
    int number = count.getAndIncrement() & Integer.MAX_VALUE;
    CoordinatorSession session = coordinators.session(number);
    return session.begin().thenCompose(start -> begun(number, session, start));
  }

  private CompletableFuture<Void> begun(int number, CoordinatorSession session, long start) {
    starts.success();
    CommitRequest request =
        KeyChooser.uniformOfThisThread().request(IsolationLevel.SERIALIZABLE, start, ROWS, ROWS);
    UUID id = request.transactionId();
    return session
        .commit(request)
        .whenComplete((decision, error) -> resolveIfUnknown(number, session, id, error))
        .thenCompose(decision -> decided(session, decision))
        .whenComplete((done, error) -> session.ended(start));
  }

  /**
   * A commit without an answer may be decided; until it is known, and applied, no later commit
   * becomes visible. So coordinators ask for an abort until they are told what it is.
   */
  private void resolveIfUnknown(int number, CoordinatorSession session, UUID id, Throwable error) {
    if (error == null || isOver) {
      return;
    }
    var unused =
        coordinators
            .client(number)
            .execute(new Command.Abort(id, 0))
            .whenComplete(
                (answer, again) -> {
                  if (again != null) {
                    Clients.later(
                        AFTER_FAILURE_MILLIS, () -> resolveIfUnknown(number, session, id, again));
                  } else if (answer instanceof Answer.Ended ended
                      && ended.outcome() instanceof Outcome.Committed committed) {
                    var unusedApplied = session.applied(committed.commitTimestamp());
                  }
                });
  }

  private CompletableFuture<Void> decided(CoordinatorSession session, Decision decision) {
    if (!(decision instanceof Decision.Committed commit)) {
      return CompletableFuture.completedFuture(null); // A conflict is an answer like any other.
    }
    commits.success();
    committed.increment();
    return session.applied(commit.commitTimestamp());
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

  Clients clients() {
    return clients;
  }

  @Override
  public void close() {
    isOver = true;
    clients.close();
  }
}
