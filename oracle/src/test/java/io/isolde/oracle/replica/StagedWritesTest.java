// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import static io.isolde.oracle.replica.ReplicaFixture.COORDINATOR;
import static io.isolde.oracle.replica.ReplicaFixture.blind;
import static io.isolde.oracle.replica.ReplicaFixture.commit;
import static io.isolde.oracle.replica.ReplicaFixture.decision;
import static io.isolde.oracle.replica.ReplicaFixture.request;
import static io.isolde.oracle.replica.ReplicaFixture.timestamp;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.Decision;
import io.isolde.oracle.InDoubtCommits;
import io.isolde.oracle.Refusal;
import io.isolde.oracle.replica.Answer.Rejected.Reason;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Commits whose writes come before them, in parts. */
class StagedWritesTest {
  private static final UUID ID = new UUID(9, 1);
  private static final Answer DONE = new Answer.Done();
  private static final Answer MISSING = new Answer.Rejected(Reason.PARTS_MISSING);

  private final ReplicaFixture fixture = new ReplicaFixture();
  private final OracleReplica replica = fixture.replica;
  private final long session = fixture.session;

  private static byte[] part(int number) {
    return new byte[] {(byte) number, 7};
  }

  /** One of two parts. */
  private Answer stage(UUID id, int number) {
    return stage(id, number, 2);
  }

  private Answer stage(UUID id, int number, int parts) {
    return fixture.apply(new Command.Stage(session, id, number, 2 * parts, part(number)));
  }

  private Command staged(int sequence, int parts, long... rows) {
    return new Command.Commit(
        session,
        sequence,
        request(ID, replica.stable(), rows),
        new byte[0],
        new Command.Staged(ID, parts));
  }

  private void assertPending(long commitTimestamp, int parts) {
    assertThat(replica.unfinished())
        .singleElement()
        .satisfies(
            commit -> {
              assertThat(commit.commit().commitTimestamp()).isEqualTo(commitTimestamp);
              assertThat(commit.writeSet()).hasSize(parts);
              for (int i = 0; i < parts; i++) {
                assertThat(commit.writeSet().get(i)).isEqualTo(part(i));
              }
            });
  }

  @Test
  void whenAllPartsAreThereThenTheCommitHasThemAndHoldsUpNobody() {
    assertThat(stage(ID, 0)).isEqualTo(DONE);
    assertThat(stage(ID, 1)).isEqualTo(DONE);
    assertThat(replica.pendingWriteBytes()).isEqualTo(4);
    long committed = timestamp(fixture.apply(staged(0, 2, 1)));
    assertThat(replica.stable()).isGreaterThanOrEqualTo(committed);
    assertThat(fixture.leadership.stable()).isGreaterThanOrEqualTo(committed);
    assertThat(replica.inDoubt().contains(committed)).isTrue();
    assertPending(committed, 2);
    assertThat(decision(fixture.apply(blind(session, 1, 2))))
        .isInstanceOf(Decision.Committed.class);
    assertThat(decision(fixture.apply(commit(session, 2, new UUID(9, 2), replica.stable(), 1))))
        .isEqualTo(new Decision.Refused(Refusal.IN_DOUBT));
    fixture.apply(new Command.Applied(committed));
    assertThat(replica.pendingWriteBytes()).isZero();
    assertThat(replica.inDoubt().isEmpty()).isTrue();
  }

  @Test
  void whenPartsComeTwiceThenTheyAreThereOnce() {
    assertThat(stage(ID, 0)).isEqualTo(DONE);
    assertThat(stage(ID, 0)).isEqualTo(DONE);
    assertThat(stage(ID, 1)).isEqualTo(DONE);
    assertThat(stage(ID, 0)).isEqualTo(DONE);
    long committed = timestamp(fixture.apply(staged(0, 2, 1)));
    assertPending(committed, 2);
    assertThat(timestamp(fixture.apply(staged(0, 2, 1)))).isEqualTo(committed);
    assertThat(replica.pendingWriteBytes()).isEqualTo(4);
  }

  @Test
  void whenAPartIsMissingThenNothingIsDecided() {
    assertThat(stage(ID, 1)).isEqualTo(MISSING);
    assertThat(stage(ID, 0)).isEqualTo(DONE);
    assertThat(fixture.apply(staged(0, 2, 1))).isEqualTo(MISSING);
    assertThat(replica.outcome(ID)).isEmpty();
    assertThat(stage(ID, 1)).isEqualTo(DONE);
    assertThat(decision(fixture.apply(staged(1, 2, 1)))).isInstanceOf(Decision.Committed.class);
  }

  @Test
  void whenPartsAreMoreThanWasSaidThenTheyAreNotTaken() {
    assertThat(stage(ID, 0)).isEqualTo(DONE);
    assertThat(stage(ID, 1)).isEqualTo(DONE);
    assertThat(stage(ID, 2)).isEqualTo(MISSING);
    assertThat(replica.pendingWriteBytes()).isEqualTo(4);
  }

  @Test
  void whenItIsAbortedOrGivenUpThenItsPartsGo() {
    stage(ID, 0, 1);
    long start = replica.stable();
    fixture.apply(new Command.Applied(timestamp(fixture.apply(blind(session, 0, 1)))));
    Command late =
        new Command.Commit(
            session, 1, request(ID, start, 1), new byte[0], new Command.Staged(ID, 1));
    assertThat(decision(fixture.apply(late))).isInstanceOf(Decision.Aborted.class);
    assertThat(replica.pendingWriteBytes()).isZero();
    UUID other = new UUID(9, 3);
    stage(other, 0);
    assertThat(fixture.apply(new Command.Unstage(session, other))).isEqualTo(DONE);
    assertThat(fixture.apply(new Command.Unstage(session, other))).isEqualTo(DONE);
    assertThat(replica.pendingWriteBytes()).isZero();
    assertThat(stage(other, 1)).isEqualTo(MISSING);
  }

  @Test
  void whenItIsRefusedThenItCanBeAskedForAgain() {
    fixture.lead(ReplicaFixture.CONFIG.withMaxPendingCommits(1), 20_000);
    long first = timestamp(fixture.apply(blind(session, 0, 1)));
    stage(ID, 0, 1);
    assertThat(decision(fixture.apply(staged(1, 1, 2)))).isInstanceOf(Decision.Refused.class);
    fixture.apply(new Command.Applied(first));
    assertPending(timestamp(fixture.apply(staged(2, 1, 2))), 1);
  }

  /** Large ones have room of their own in the set, so what is stuck gets in, too. */
  @Test
  void whenTooManyIdsAreInDoubtThenALargeCommitIsRefusedAndWhatIsStuckIsSetAside() {
    long[] most = LongStream.range(0, InDoubtCommits.MAX_LARGE_IDS).toArray();
    stage(ID, 0, 1);
    long large = timestamp(fixture.apply(staged(0, 1, most)));
    UUID next = new UUID(9, 4);
    fixture.apply(new Command.Stage(session, next, 0, 2, part(0)));
    Command refused =
        new Command.Commit(
            session,
            1,
            request(next, replica.stable(), -1),
            new byte[0],
            new Command.Staged(next, 1));
    assertThat(decision(fixture.apply(refused)))
        .isEqualTo(new Decision.Refused(Refusal.TOO_MANY_PENDING));
    long small = timestamp(fixture.apply(blind(session, 2, -2)));
    assertThat(replica.overdue(small)).containsExactly(small);
    assertThat(replica.inDoubt().isOnlyLarge()).isTrue();
    fixture.apply(new Command.DeclareInDoubt(small));
    assertThat(replica.inDoubt().commits().keySet()).containsExactly(large, small);
    assertThat(replica.inDoubt().isOnlyLarge()).isFalse();
  }

  @Test
  void whenItsSessionEndsThenItsPartsGo() {
    stage(ID, 0);
    fixture.apply(new Command.FenceSession(session));
    assertThat(replica.pendingWriteBytes()).isZero();
    assertThat(stage(ID, 1)).isEqualTo(new Answer.Fenced());
    long other = fixture.open(new UUID(5, 5), 1);
    fixture.apply(new Command.Stage(other, ID, 0, 2, part(0)));
    assertThat(replica.pendingWriteBytes()).isEqualTo(2);
    fixture.open(new UUID(5, 5), 2);
    assertThat(replica.pendingWriteBytes()).isZero();
    assertThat(fixture.open(COORDINATOR, 2)).isPositive();
  }

  @Test
  void whenPartsAreLeftAloneThenTheyGo() {
    long nowMicros = 1_000_000;
    fixture.apply(nowMicros, List.of(new Command.Stage(session, ID, 0, 2, part(0))));
    fixture.apply(nowMicros + StagedWrites.KEEP_MICROS, List.of(blind(session, 0, 1)));
    assertThat(replica.pendingWriteBytes()).isEqualTo(2);
    fixture.apply(nowMicros + StagedWrites.KEEP_MICROS + 1, List.of(blind(session, 1, 1)));
    assertThat(replica.pendingWriteBytes()).isZero();
    assertThat(stage(ID, 1)).isEqualTo(MISSING);
  }

  /** The first part takes room for all, so that none is left without in the middle. */
  @Test
  void whenThereIsNoRoomThenThatIsSaidAtOnce() {
    int half = (int) (OracleReplica.MAX_PENDING_WRITE_BYTES / 2);
    UUID other = new UUID(9, 5);
    UUID third = new UUID(9, 6);
    assertThat(fixture.apply(new Command.Stage(session, ID, 0, half, part(0)))).isEqualTo(DONE);
    assertThat(fixture.apply(new Command.Stage(session, other, 0, half, part(0)))).isEqualTo(DONE);
    assertThat(fixture.apply(new Command.Stage(session, third, 0, 2, part(0))))
        .isEqualTo(new Answer.Rejected(Reason.NO_ROOM_FOR_PARTS));
    assertThat(fixture.apply(new Command.Stage(session, ID, 1, half, part(1)))).isEqualTo(DONE);
    fixture.apply(new Command.Unstage(session, other));
    assertThat(fixture.apply(new Command.Stage(session, third, 0, 2, part(0)))).isEqualTo(DONE);
  }

  @Test
  void whenTheStateIsSavedThenPartsAreInIt() throws IOException {
    byte[] empty = ReplicaFixture.save(replica);
    assertThat(ReplicaFixture.save(ReplicaFixture.load(empty))).isEqualTo(empty);
    stage(ID, 0);
    stage(ID, 1);
    byte[] undecided = ReplicaFixture.save(replica);
    OracleReplica loaded = ReplicaFixture.load(undecided);
    assertThat(loaded.pendingWriteBytes()).isEqualTo(4);
    assertThat(Arrays.equals(ReplicaFixture.save(loaded), undecided)).isTrue();
    long committed = timestamp(fixture.apply(staged(0, 2, 1)));
    byte[] decided = ReplicaFixture.save(replica);
    loaded = ReplicaFixture.load(decided);
    assertThat(loaded.unfinished()).hasSize(1);
    assertThat(loaded.unfinished().get(0).writeSet()).hasSize(2);
    assertThat(loaded.pendingWriteBytes()).isEqualTo(4);
    assertThat(Arrays.equals(ReplicaFixture.save(loaded), decided)).isTrue();
    fixture.apply(new Command.Applied(committed));
    assertThat(replica.pendingWriteBytes()).isZero();
  }
}
