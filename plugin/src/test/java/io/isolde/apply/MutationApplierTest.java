// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.testing.CassandraInProcess;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class MutationApplierTest {
  private static final long COMMIT = 1_000_000;
  private static final int LARGE = 600_000;

  private final FailingStrongTables strong = new FailingStrongTables(CassandraInProcess.KEYSPACE);
  private final MutationApplier applier = new MutationApplier(strong, OutboundQueues.none());

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute(
        "CREATE TABLE IF NOT EXISTS test.stubborn (id int PRIMARY KEY, v text)");
  }

  /** What it would write after them could come back into a table that was truncated meanwhile. */
  @Test
  void whenOthersHaveAppliedACommitThenItsCoordinatorTriesNoMore() throws Exception {
    AtomicBoolean isAppliedByOthers = new AtomicBoolean();
    CompletableFuture<Void> applied =
        applier.apply(
            List.of(write(1)),
            COMMIT,
            () -> {
              isAppliedByOthers.compareAndSet(false, strong.attempts.get() == 3);
              return isAppliedByOthers.get();
            });
    applied.get(20, TimeUnit.SECONDS);
    assertThat(strong.attempts.get()).isEqualTo(3);
  }

  @Test
  void whenACommitIsLargeThenItGoesSliceBySliceAndStopsIfOthersHaveAppliedIt() throws Exception {
    strong.succeed();
    List<PartitionUpdate> updates =
        IntStream.range(0, 10).mapToObj(id -> write(id, LARGE)).toList();
    AtomicInteger looks = new AtomicInteger();
    assertThat(
            applier
                .attempt(updates, COMMIT, () -> looks.incrementAndGet() == 3)
                .get(20, TimeUnit.SECONDS))
        .isTrue();
    // Two partitions fill a slice.
    assertThat(strong.attempts.get()).isEqualTo(6);
    assertThat(applier.attempt(updates, COMMIT, () -> false).get(20, TimeUnit.SECONDS)).isTrue();
    assertThat(strong.attempts.get()).isEqualTo(16);
  }

  private static PartitionUpdate write(int id) {
    return write(id, 1);
  }

  private static PartitionUpdate write(int id, int bytes) {
    PartitionUpdate.SimpleBuilder update =
        PartitionUpdate.simpleBuilder(CassandraInProcess.table("stubborn").metadata(), id)
            .timestamp(1);
    update.row().add("v", "x".repeat(bytes));
    return update.build();
  }
}
