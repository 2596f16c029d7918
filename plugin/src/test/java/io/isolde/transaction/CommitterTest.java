// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.apply.FailingStrongTables;
import io.isolde.apply.MutationApplier;
import io.isolde.apply.OutboundQueues;
import io.isolde.apply.StuckOracle;
import io.isolde.config.IsoldeConfig;
import io.isolde.conflict.ReadSet;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Conflict;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.group.Decided;
import io.isolde.testing.CassandraInProcess;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class CommitterTest {
  private static final long START = 1_000;
  private static final long IN_THE_WAY = 1_010;

  private final CommitMemory memory = new CommitMemory(1 << 20);
  private final StuckOracle oracle =
      new StuckOracle() {
        @Override
        public CompletableFuture<Decided> commit(
            CommitRequest request, byte[] writeSet, boolean isToBeApplied) {
          Conflict conflict =
              new Conflict(Conflict.Kind.WRITE_WRITE, request.overwrites()[0], IN_THE_WAY, null);
          return CompletableFuture.completedFuture(
              Decided.toBeApplied(new Decision.Aborted(conflict)));
        }
      };

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TABLE IF NOT EXISTS test.fought (id int PRIMARY KEY)");
  }

  private CompletableFuture<Long> commit() {
    TransactionListener listener = new CountingListener(new AtomicInteger());
    InDoubt inDoubt = new InDoubt(oracle, (pause, task) -> {}, () -> 100, listener);
    Committer committer =
        new Committer(
            oracle,
            new MutationApplier(new FailingStrongTables(), OutboundQueues.none()),
            inDoubt,
            memory,
            IsoldeConfig.ofThisNode().transactions(),
            listener);
    PartitionUpdate.SimpleBuilder update =
        PartitionUpdate.simpleBuilder(CassandraInProcess.table("fought").metadata(), 1);
    update.row();
    return CompletableFuture.completedFuture(null)
        .thenCompose(
            ready ->
                committer.commit(
                    UUID.randomUUID(),
                    IsolationLevel.SNAPSHOT,
                    START,
                    new ReadSet(10),
                    List.of(update.build())));
  }

  /** Else the next attempt would begin below what was in the way, and fail for certain. */
  @Test
  void whenThereIsAConflictThenItIsToldWhenWhatWasInTheWayIsVisible() {
    CompletableFuture<Long> commit = commit();
    assertThatThrownBy(() -> commit.get(500, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);

    oracle.reached.complete(null);
    assertConflict(commit);
  }

  @Test
  void whenWhatWasInTheWayStaysInvisibleThenTheConflictIsToldAllTheSame() {
    assertConflict(commit());
    assertThat(oracle.reached).isCancelled();
  }

  /** Whatever becomes of a commit, its memory is free again. */
  @Test
  void whenACommitHasEndedThenItTakesNoMemory() {
    oracle.reached.complete(null);
    assertConflict(commit());
    assertThat(memory.bytes()).isZero();
  }

  @Test
  void whenCommitsTakeAllTheMemoryThenAnotherIsRefusedAndNothingIsCommitted() {
    CommitMemory.Share all = memory.share(1 << 19);
    assertThatThrownBy(() -> commit().get(10, TimeUnit.SECONDS))
        .cause()
        .isInstanceOfSatisfying(
            IsoldeException.class,
            e -> assertThat(e.errorCode()).isEqualTo(ErrorCode.ORACLE_OVERLOADED));
    all.release();
    assertThat(memory.bytes()).isZero();
  }

  private static void assertConflict(CompletableFuture<Long> commit) {
    assertThatThrownBy(() -> commit.get(10, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .cause()
        .isInstanceOfSatisfying(
            IsoldeException.class, e -> assertThat(e.errorCode()).isEqualTo(ErrorCode.CONFLICT));
  }
}
