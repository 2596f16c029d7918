// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.testing.CassandraInProcess;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class MutationApplierTest {
  private final FailingStrongTables strong = new FailingStrongTables(CassandraInProcess.KEYSPACE);
  private final MutationApplier applier = new MutationApplier(strong, OutboundQueues.none());

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TABLE IF NOT EXISTS test.stubborn (id int PRIMARY KEY)");
  }

  /** What it would write after them could come back into a table that was truncated meanwhile. */
  @Test
  void whenOthersHaveAppliedACommitThenItsCoordinatorTriesNoMore() throws Exception {
    AtomicBoolean isAppliedByOthers = new AtomicBoolean();
    CompletableFuture<Void> applied =
        applier.apply(
            List.of(write()),
            () -> {
              isAppliedByOthers.compareAndSet(false, strong.attempts.get() == 3);
              return isAppliedByOthers.get();
            });
    applied.get(20, TimeUnit.SECONDS);
    assertThat(strong.attempts.get()).isEqualTo(3);
  }

  private static Mutation write() {
    PartitionUpdate.SimpleBuilder update =
        PartitionUpdate.simpleBuilder(CassandraInProcess.table("stubborn").metadata(), 1)
            .timestamp(1);
    update.row();
    return new Mutation(update.build());
  }
}
