// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.apply.StuckOracle;
import io.isolde.conflict.Granule;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.InDoubtCommits;
import io.isolde.testing.CassandraInProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A commit at 100 that writes 7 and 8 is in doubt, below snapshots that are given out. */
class InDoubtTest {
  private static final long COMMIT = 100;
  private static final InDoubtCommits STUCK = StuckOracle.set(1, COMMIT, 7, 8);
  private static final InDoubtCommits APPLIED = InDoubtCommits.of(2, new TreeMap<>());
  private static final long FOREVER_MILLIS = 600_000;

  private static TableMetadata table;

  private final StuckOracle oracle = new StuckOracle();
  private final AtomicInteger waited = new AtomicInteger();
  private final List<Runnable> later = new ArrayList<>();

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TABLE IF NOT EXISTS test.doubt (p int PRIMARY KEY, v int)");
    table = Schema.instance.getTableMetadata("test", "doubt");
  }

  private InDoubt inDoubt(long longestWaitMillis) {
    return new InDoubt(
        oracle,
        (pauseMillis, task) -> later.add(task),
        () -> longestWaitMillis,
        new CountingListener(waited));
  }

  private static Granule granule(long id) {
    return new Granule(table, null, null);
  }

  private void await(InDoubt inDoubt, long id, long upTo) {
    inDoubt.await(new long[] {3, id}, upTo, InDoubtTest::granule, null);
  }

  @Test
  void whenOthersAreInDoubtThenNobodyWaits() {
    InDoubt inDoubt = inDoubt(FOREVER_MILLIS);
    await(inDoubt, 7, 500);
    assertThat(inDoubt.isPossible()).isFalse();
    oracle.known = STUCK;
    assertThat(inDoubt.isPossible()).isTrue();
    await(inDoubt, 9, 500);
    await(inDoubt, 7, COMMIT - 2);
    assertThat(waited).hasValue(0);
    assertThat(oracle.asked).hasValue(0);
  }

  @Test
  void whenTheCommitIsAppliedMeanwhileThenTheReadGoesOn() {
    oracle.known = STUCK;
    oracle.latest = APPLIED;
    await(inDoubt(FOREVER_MILLIS), 7, 500);
    assertThat(waited).hasValue(1);
    assertThat(oracle.asked).hasValue(1);
  }

  @Test
  void whenItTakesTooLongThenTheErrorNamesCommitAndTable() {
    oracle.known = STUCK;
    oracle.latest = STUCK;
    InDoubt inDoubt = inDoubt(1);
    assertThatThrownBy(() -> await(inDoubt, 8, 500))
        .isInstanceOfSatisfying(
            IsoldeException.class,
            error -> {
              assertThat(error.errorCode()).isEqualTo(ErrorCode.UNAVAILABLE);
              assertThat(error.getMessage()).contains("test.doubt", "in_doubt=" + COMMIT);
            });
  }

  @Test
  void whenTooManyWaitThenTheNextIsToldAtOnce() throws Exception {
    oracle.known = STUCK;
    oracle.latest = STUCK;
    InDoubt inDoubt = inDoubt(FOREVER_MILLIS);
    ExecutorService clients = Executors.newCachedThreadPool();
    List<CompletableFuture<Void>> waiting = new ArrayList<>();
    try {
      for (int i = 0; i < 32; i++) {
        waiting.add(CompletableFuture.runAsync(() -> await(inDoubt, 7, 500), clients));
      }
      while (inDoubt.waiting() < 32) {
        Thread.sleep(1);
      }
      assertThatThrownBy(() -> await(inDoubt, 7, 500)).isInstanceOf(IsoldeException.class);
      await(inDoubt, 9, 500);
      oracle.latest = APPLIED;
      CompletableFuture.allOf(waiting.toArray(CompletableFuture[]::new)).get();
      assertThat(inDoubt.waiting()).isZero();
    } finally {
      clients.shutdownNow();
    }
  }

  @Test
  void whenStableHasPassedACommitThenItsSuccessorStillWaitsForIt() {
    oracle.stable = 500;
    oracle.known = STUCK;
    oracle.latest = STUCK;
    InDoubt inDoubt = inDoubt(1);
    assertThat(inDoubt.whenApplied(new long[] {9}, COMMIT)).isDone();
    assertThat(inDoubt.whenApplied(new long[] {7}, 0)).isDone();
    CompletableFuture<Void> turn = inDoubt.whenApplied(new long[] {7}, COMMIT);
    CompletableFuture<Void> visible = inDoubt.whenApplied(COMMIT);
    assertThat(turn).isNotDone();
    assertThat(visible).isNotDone();
    oracle.latest = APPLIED;
    List.copyOf(later).forEach(Runnable::run);
    assertThat(turn).isDone();
    assertThat(visible).isDone();
  }

  @Test
  void whenStableHasNotReachedItThenThatIsWaitedForFirst() {
    oracle.stable = COMMIT - 2;
    CompletableFuture<Void> turn = inDoubt(1).whenApplied(new long[] {7}, COMMIT);
    assertThat(turn).isNotDone();
    oracle.stable = COMMIT;
    oracle.reached.complete(null);
    assertThat(turn).isDone();
    assertThat(later).isEmpty();
  }

  @Test
  void whenWhoWaitsGivesUpThenTheOracleIsNotAskedAgain() {
    oracle.stable = COMMIT - 2;
    CompletableFuture<Void> visible = inDoubt(1).whenApplied(COMMIT);
    visible.cancel(false);
    assertThat(oracle.reached).isCancelled();
    assertThat(later).isEmpty();
  }
}
