// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import static io.isolde.testing.CassandraInProcess.execute;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.PendingCommit;
import io.isolde.oracle.group.Stable;
import io.isolde.oracle.replica.UnfinishedCommit;
import io.isolde.testing.CassandraInProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.schema.TableId;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Commits of dead coordinators, finished on a node that may know less than they did. */
class RecoveryTest {
  private static final int NUMBER_OF_TABLES = 2;
  private static final long FIRST = 1_000;

  private BooleanSupplier isSchemaCurrent = () -> true;
  private final List<UnfinishedCommit> unfinished = new ArrayList<>();
  private final Queue<Long> applied = new ConcurrentLinkedQueue<>();
  private final StuckOracle oracle =
      new StuckOracle() {
        @Override
        public CompletableFuture<Void> applied(long commitTimestamp, Optional<Stable> byLeader) {
          applied.add(commitTimestamp);
          return CompletableFuture.completedFuture(null);
        }
      };

  private final Recovery recovery =
      new Recovery(
          () -> List.copyOf(unfinished),
          new MutationApplier(new FailingStrongTables(), OutboundQueues.none()),
          oracle,
          () -> isSchemaCurrent.getAsBoolean());

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
  }

  @Test
  void whenATableIsUnknownWhileOthersKnowMoreThenTheCommitWaitsAndIsAppliedWhole()
      throws Exception {
    List<TableId> ids = tables("known", "late", "v int");
    orphan(FIRST, write("known", 1), write("late", 1));
    execute("DROP TABLE test.late");

    isSchemaCurrent = () -> false;
    recovery.finishAll();
    assertThat(execute("SELECT v FROM test.known")).isEmpty();
    assertThat(applied).isEmpty();

    // It comes while the others are being asked, and they agree then.
    isSchemaCurrent =
        () -> {
          execute(
              "CREATE TABLE IF NOT EXISTS test.late (id int PRIMARY KEY, v int) WITH id = "
                  + ids.get(1));
          return true;
        };
    finish();
    assertThat(applied).containsExactly(FIRST);
    assertThat(execute("SELECT v FROM test.known").one().getInt("v")).isEqualTo(1);
    assertThat(execute("SELECT v FROM test.late").one().getInt("v")).isEqualTo(1);
  }

  @Test
  void whenATableIsUnknownToAllThenTheRestOfTheCommitIsApplied() throws Exception {
    tables("kept", "dropped", "v int");
    orphan(FIRST, write("kept", 2), write("dropped", 2));
    execute("DROP TABLE test.dropped");

    finish();
    assertThat(applied).containsExactly(FIRST);
    assertThat(execute("SELECT v FROM test.kept").one().getInt("v")).isEqualTo(2);
  }

  /**
   * Dropped columns are remembered: one that is unknown is one that this node is yet to hear of.
   */
  @Test
  void whenAColumnIsUnknownThenThatCommitWaitsAndThoseAfterItAreFinished() throws Exception {
    List<TableId> ids = tables("altered", "other", "v int");
    orphan(FIRST, write("altered", 3));
    orphan(FIRST + 2, write("other", 3));
    execute("DROP TABLE test.altered");
    execute("CREATE TABLE test.altered (id int PRIMARY KEY, w int) WITH id = " + ids.get(0));

    finish();
    assertThat(applied).containsExactly(FIRST + 2);

    execute("ALTER TABLE test.altered ADD v int");
    finish();
    assertThat(applied).containsExactly(FIRST + 2, FIRST);
    assertThat(execute("SELECT v FROM test.altered").one().getInt("v")).isEqualTo(3);
  }

  @Test
  void whenAWriteSetIsDamagedThenThoseAfterItAreFinished() throws Exception {
    tables("sound", "unused", "v int");
    unfinished.add(
        new UnfinishedCommit(
            new PendingCommit(UUID.randomUUID(), FIRST, 1), true, 0, List.of(new byte[] {1})));
    orphan(FIRST + 2, write("sound", 4));

    finish();
    assertThat(applied).containsExactly(FIRST + 2);
  }

  @Test
  void whenALivingCoordinatorDoesNotGetItAppliedThenItIsFinishedAfterAWhile() throws Exception {
    tables("stuck", "spare", "v int");
    unfinished.add(
        new UnfinishedCommit(
            new PendingCommit(UUID.randomUUID(), FIRST, 1),
            false,
            0,
            List.of(WriteSetCodec.encode(List.of(write("stuck", 5))))));
    recovery.finishAll();
    recovery.finishAll();
    assertThat(execute("SELECT v FROM test.stuck")).isEmpty();

    finish();
    assertThat(applied).containsExactly(FIRST);
    assertThat(execute("SELECT v FROM test.stuck").one().getInt("v")).isEqualTo(5);
  }

  /** Tries until it is done, and for longer than a commit that failed rests. */
  private void finish() throws InterruptedException {
    int before = applied.size();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (applied.size() == before && System.nanoTime() - deadline < 0) {
      recovery.finishAll();
      Thread.sleep(50);
    }
    unfinished.removeIf(left -> applied.contains(left.commit().commitTimestamp()));
  }

  private void orphan(long commitTimestamp, PartitionUpdate... writes) {
    unfinished.add(
        new UnfinishedCommit(
            new PendingCommit(UUID.randomUUID(), commitTimestamp, 1),
            true,
            0,
            List.of(WriteSetCodec.encode(List.of(writes)))));
  }

  private static List<TableId> tables(String one, String other, String column) {
    List<TableId> ids = new ArrayList<>(NUMBER_OF_TABLES);
    for (String table : List.of(one, other)) {
      execute("CREATE TABLE test.%s (id int PRIMARY KEY, %s)".formatted(table, column));
      ids.add(CassandraInProcess.table(table).metadata().id);
    }
    return ids;
  }

  private static PartitionUpdate write(String table, int value) {
    PartitionUpdate.SimpleBuilder update =
        PartitionUpdate.simpleBuilder(CassandraInProcess.table(table).metadata(), value)
            .timestamp(1);
    update.row().add("v", value);
    return update.build();
  }
}
