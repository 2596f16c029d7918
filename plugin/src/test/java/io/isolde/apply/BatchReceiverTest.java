// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.testing.CassandraInProcess;
import java.util.List;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a replica does with batch items. */
class BatchReceiverTest {
  private static final byte[] NONSENSE = {1, 2, 3};

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute("CREATE TABLE IF NOT EXISTS test.items (id int PRIMARY KEY, v int)");
  }

  @Test
  void whatComesIsAppliedAndAnswered() {
    byte[] answer =
        send(
            System.currentTimeMillis(),
            BatchFrames.item(List.of(write(1))),
            BatchFrames.item(List.of(write(2), write(3))));

    assertThat(answer).containsExactly(BatchFrames.DONE, BatchFrames.DONE);
    assertThat(CassandraInProcess.execute("SELECT id FROM test.items WHERE id IN (1, 2, 3)"))
        .hasSize(3);
  }

  @Test
  void whenOneMutationIsRefusedThenItsItemIsAndTheOthersAreNot() {
    byte[] answer =
        send(
            System.currentTimeMillis(),
            BatchFrames.item(List.of(write(4), NONSENSE)),
            BatchFrames.item(List.of(write(5))));

    assertThat(answer).containsExactly((byte) 0, BatchFrames.DONE);
  }

  /** It could come after a TRUNCATE. */
  @Test
  void whatComesMuchTooLateIsRefused() {
    byte[] answer = send(System.currentTimeMillis() - 60_000, BatchFrames.item(List.of(write(7))));

    assertThat(answer).containsExactly((byte) 0);
    assertThat(CassandraInProcess.execute("SELECT id FROM test.items WHERE id = 7")).isEmpty();
  }

  private static byte[] send(long sentAtMillis, byte[]... items) {
    return BatchReceiver.answer(
        BatchFrames.encode(OutboundQueues.VERSION, sentAtMillis, List.of(items)));
  }

  private static byte[] write(int id) {
    PartitionUpdate.SimpleBuilder update =
        PartitionUpdate.simpleBuilder(CassandraInProcess.table("items").metadata(), id);
    update.timestamp(System.currentTimeMillis() * 1000).row().add("v", 1);
    return PartitionDispatch.serialized(new Mutation(update.build()));
  }
}
