// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.group.Stable;
import io.isolde.testing.CassandraInProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a replica does with batch items. */
class BatchReceiverTest {
  private static final Stable STABLE = new Stable(77, 1);
  private static final byte[] NONSENSE = {1, 2, 3};

  private final List<Long> reported = new ArrayList<>();
  private final BatchReceiver end = new BatchReceiver(this::tell);

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute(
        "CREATE TABLE IF NOT EXISTS test.parcels (id int PRIMARY KEY, v int)");
  }

  private Optional<Stable> tell(List<Long> commits) {
    reported.addAll(commits);
    return Optional.of(STABLE);
  }

  @Test
  void whatIsAppliedIsToldToTheOracleIfThatIsAQuorum() {
    BatchFrames.Answer answer =
        send(
            System.currentTimeMillis(),
            BatchFrames.item(BatchFrames.NO_COMMIT, List.of(write(1))),
            BatchFrames.item(5, List.of(write(2), write(3))));

    assertThat(answer).isEqualTo(new BatchFrames.Answer(List.of(true, true), Optional.of(STABLE)));
    assertThat(reported).containsExactly(5L);
    assertThat(CassandraInProcess.execute("SELECT id FROM test.parcels WHERE id IN (1, 2, 3)"))
        .hasSize(3);
  }

  @Test
  void whenOneMutationIsRefusedThenItsParcelIsAndTheCommitIsNotToldToBeApplied() {
    BatchFrames.Answer answer =
        send(
            System.currentTimeMillis(),
            BatchFrames.item(5, List.of(write(4), NONSENSE)),
            BatchFrames.item(6, List.of(write(5))));

    assertThat(answer.done()).containsExactly(false, true);
    assertThat(reported).containsExactly(6L);
  }

  @Test
  void whenNoParcelIsTheLastOneOfACommitThenTheOracleIsNotAsked() {
    BatchFrames.Answer answer =
        send(
            System.currentTimeMillis(), BatchFrames.item(BatchFrames.NO_COMMIT, List.of(write(6))));

    assertThat(answer).isEqualTo(new BatchFrames.Answer(List.of(true), Optional.empty()));
    assertThat(reported).isEmpty();
  }

  /** It could come after a TRUNCATE. */
  @Test
  void whatComesMuchTooLateIsRefused() {
    BatchFrames.Answer answer =
        send(System.currentTimeMillis() - 60_000, BatchFrames.item(5, List.of(write(7))));

    assertThat(answer).isEqualTo(new BatchFrames.Answer(List.of(false), Optional.empty()));
    assertThat(reported).isEmpty();
    assertThat(CassandraInProcess.execute("SELECT id FROM test.parcels WHERE id = 7")).isEmpty();
  }

  private BatchFrames.Answer send(long sentAtMillis, byte[]... items) {
    byte[] message = BatchFrames.encode(OutboundQueues.VERSION, sentAtMillis, List.of(items));
    return BatchFrames.decodeAnswer(end.answer(message), items.length).orElseThrow();
  }

  private static byte[] write(int id) {
    PartitionUpdate.SimpleBuilder update =
        PartitionUpdate.simpleBuilder(CassandraInProcess.table("parcels").metadata(), id);
    update.timestamp(System.currentTimeMillis() * 1000).row().add("v", 1);
    return PartitionDispatch.serialized(new Mutation(update.build()));
  }
}
