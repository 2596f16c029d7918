// SPDX-License-Identifier: Apache-2.0
package io.isolde.rowlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.lock.LockTable;
import io.isolde.rowlock.LockMessages.Granted;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who waits at the leader gets an answer, whatever happens to the one before. */
class LockServerTest {
  private static final UUID A = new UUID(0, 1);
  private static final UUID B = new UUID(0, 2);
  private static final int LONG_MILLIS = 60_000;
  private static final long PATIENCE_SECONDS = 30;

  private final AtomicBoolean isLeading = new AtomicBoolean(true);
  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
  private final LockServer server = new LockServer(isLeading::get, Optional::empty, clock);

  @AfterEach
  void stop() {
    clock.shutdownNow();
  }

  private CompletableFuture<Optional<Granted>> ask(UUID transaction, int waitMillis) {
    return server.answer(
        new LockMessages.Ask(
            transaction, Set.of(1L), LockTable.Mode.WAIT, 0, Set.of(), waitMillis));
  }

  private static Optional<LockTable.Outcome> outcome(CompletableFuture<Optional<Granted>> answer)
      throws Exception {
    return answer
        .get(PATIENCE_SECONDS, TimeUnit.SECONDS)
        .map(granted -> granted.answer().outcome());
  }

  @Test
  void whenTheRowIsReleasedThenWhoWaitsHasIt() throws Exception {
    assertThat(outcome(ask(A, 0))).contains(LockTable.Outcome.GRANTED);
    CompletableFuture<Optional<Granted>> waiting = ask(B, LONG_MILLIS);
    assertThat(waiting).isNotDone();
    assertThat(outcome(server.answer(new LockMessages.Release(A))))
        .contains(LockTable.Outcome.GRANTED);
    assertThat(outcome(waiting)).contains(LockTable.Outcome.GRANTED);
  }

  @Test
  void whenTheTimeIsOverThenItStillWaitsAndKeepsItsPlace() throws Exception {
    assertThat(ask(A, 0)).isDone();
    assertThat(outcome(ask(B, 1))).contains(LockTable.Outcome.WAITS);
    server.answer(new LockMessages.Release(A)).join();
    assertThat(server.entries()).singleElement().satisfies(b -> assertThat(b.locked()).isOne());
  }

  @Test
  void whenItAsksTwiceOrGivesUpThenNoAnswerIsForgotten() throws Exception {
    assertThat(ask(A, 0)).isDone();
    CompletableFuture<Optional<Granted>> lost = ask(B, LONG_MILLIS);
    CompletableFuture<Optional<Granted>> again = ask(B, LONG_MILLIS);
    assertThat(outcome(lost)).contains(LockTable.Outcome.WAITS);
    server.answer(new LockMessages.GiveUp(B, Set.of(1L))).join();
    assertThat(outcome(again)).contains(LockTable.Outcome.WAITS);
    assertThat(server.entries()).hasSize(1);
  }

  @Test
  void whenItLeadsNoMoreThenNobodyWaitsAndItsLocksAreGone() throws Exception {
    assertThat(ask(A, 0)).isDone();
    CompletableFuture<Optional<Granted>> waiting = ask(B, LONG_MILLIS);
    isLeading.set(false);
    server.tick();
    assertThat(outcome(waiting)).isEmpty();
    assertThat(outcome(ask(B, 0))).isEmpty();
    isLeading.set(true);
    assertThat(outcome(ask(B, 0))).contains(LockTable.Outcome.GRANTED);
  }
}
