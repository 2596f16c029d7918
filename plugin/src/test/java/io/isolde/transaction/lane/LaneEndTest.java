// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction.lane;

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

/** What a replica does with parcels. */
class LaneEndTest {
  private static final Stable STABLE = new Stable(77, 1);
  private static final byte[] NONSENSE = {1, 2, 3};

  private final List<Long> told = new ArrayList<>();
  private final LaneEnd end = new LaneEnd(this::tell);

  @BeforeAll
  static void start() {
    CassandraInProcess.start();
    CassandraInProcess.execute(
        "CREATE TABLE IF NOT EXISTS test.parcels (id int PRIMARY KEY, v int)");
  }

  private Optional<Stable> tell(List<Long> commits) {
    told.addAll(commits);
    return Optional.of(STABLE);
  }

  @Test
  void whatIsAppliedIsToldToTheOracleIfThatIsAQuorum() {
    LaneFrames.Answer answer =
        send(
            System.currentTimeMillis(),
            LaneFrames.parcel(LaneFrames.NO_COMMIT, List.of(write(1))),
            LaneFrames.parcel(5, List.of(write(2), write(3))));

    assertThat(answer).isEqualTo(new LaneFrames.Answer(List.of(true, true), Optional.of(STABLE)));
    assertThat(told).containsExactly(5L);
    assertThat(CassandraInProcess.execute("SELECT id FROM test.parcels WHERE id IN (1, 2, 3)"))
        .hasSize(3);
  }

  @Test
  void whenOneMutationIsRefusedThenItsParcelIsAndTheCommitIsNotToldToBeApplied() {
    LaneFrames.Answer answer =
        send(
            System.currentTimeMillis(),
            LaneFrames.parcel(5, List.of(write(4), NONSENSE)),
            LaneFrames.parcel(6, List.of(write(5))));

    assertThat(answer.done()).containsExactly(false, true);
    assertThat(told).containsExactly(6L);
  }

  @Test
  void whenNoParcelIsTheLastOneOfACommitThenTheOracleIsNotAsked() {
    LaneFrames.Answer answer =
        send(
            System.currentTimeMillis(), LaneFrames.parcel(LaneFrames.NO_COMMIT, List.of(write(6))));

    assertThat(answer).isEqualTo(new LaneFrames.Answer(List.of(true), Optional.empty()));
    assertThat(told).isEmpty();
  }

  /** It could come after a TRUNCATE. */
  @Test
  void whatComesMuchTooLateIsRefused() {
    LaneFrames.Answer answer =
        send(System.currentTimeMillis() - 60_000, LaneFrames.parcel(5, List.of(write(7))));

    assertThat(answer).isEqualTo(new LaneFrames.Answer(List.of(false), Optional.empty()));
    assertThat(told).isEmpty();
    assertThat(CassandraInProcess.execute("SELECT id FROM test.parcels WHERE id = 7")).isEmpty();
  }

  private LaneFrames.Answer send(long sentAtMillis, byte[]... parcels) {
    byte[] message = LaneFrames.encode(ApplyLanes.VERSION, sentAtMillis, List.of(parcels));
    return LaneFrames.decodeAnswer(end.answer(message), parcels.length).orElseThrow();
  }

  private static byte[] write(int id) {
    PartitionUpdate.SimpleBuilder update =
        PartitionUpdate.simpleBuilder(CassandraInProcess.table("parcels").metadata(), id);
    update.timestamp(System.currentTimeMillis() * 1000).row().add("v", 1);
    return Sending.serialized(new Mutation(update.build()));
  }
}
