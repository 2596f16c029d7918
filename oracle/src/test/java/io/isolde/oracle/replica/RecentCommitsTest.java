// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import static io.isolde.oracle.replica.ReplicaFixture.timestamp;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.IsolationLevel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RecentCommitsTest {
  private static final byte[] WRITES = {1};
  private static final byte[] NO_WRITES = {};

  private final ReplicaFixture fixture = new ReplicaFixture();
  private int sequence;
  private long index = 100;

  private Command blind(byte[] writes) {
    return blind(sequence++, writes);
  }

  private Command blind(int number, byte[] writes) {
    CommitRequest request =
        new CommitRequest(
            null, IsolationLevel.SERIALIZABLE, 0, new long[0], new long[0], new long[] {1});
    return new Command.Commit(fixture.session, number, request, writes);
  }

  /** Returns the commit timestamps. */
  private List<Long> apply(RecentCommits recent, Command... commands) {
    LogEntry entry = fixture.leadership.entry(List.of(commands), fixture.replica.last());
    List<Answer> answers = fixture.replica.apply(entry);
    fixture.leadership.entryApplied(entry);
    recent.applied(index++, entry, answers);
    List<Long> timestamps = new ArrayList<>();
    for (Answer answer : answers) {
      if (answer instanceof Answer.Decided) {
        timestamps.add(timestamp(answer));
      }
    }
    return timestamps;
  }

  @Test
  void whenCommitsWereDecidedThenTheyAreFoundWhereTheyAreInTheLog() {
    RecentCommits recent = new RecentCommits(fixture.replica.last());
    List<Long> first = apply(recent, blind(WRITES), new Command.Applied(1), blind(WRITES));
    List<Long> second = apply(recent, blind(WRITES));
    RecentCommits.Place a = new RecentCommits.Place(first.get(0), 100, 0);
    RecentCommits.Place b = new RecentCommits.Place(first.get(1), 100, 2);
    RecentCommits.Place c = new RecentCommits.Place(second.get(0), 101, 0);
    assertThat(recent.between(0, Long.MAX_VALUE, 10)).containsExactly(a, b, c);
    assertThat(recent.between(0, Long.MAX_VALUE, 2)).containsExactly(a, b);
    assertThat(recent.between(a.commitTimestamp(), b.commitTimestamp(), 10)).containsExactly(b);
    assertThat(recent.find(c.commitTimestamp())).containsExactly(c);
    assertThat(recent.find(c.commitTimestamp() + 1)).isEmpty();
  }

  @Test
  void whenACommitIsAskedForAgainThenItStaysWhereItWasDecided() {
    RecentCommits recent = new RecentCommits(fixture.replica.last());
    long decided = apply(recent, blind(7, WRITES)).get(0);
    assertThat(apply(recent, blind(7, WRITES))).containsExactly(decided);
    assertThat(recent.between(0, Long.MAX_VALUE, 10))
        .containsExactly(new RecentCommits.Place(decided, 100, 0));
  }

  @Test
  void whenACommitIsOlderThanTheSavedStateThenItsRepetitionDoesNotCount() {
    long before = apply(new RecentCommits(0), blind(7, WRITES)).get(0);
    RecentCommits recent = new RecentCommits(fixture.replica.last());
    assertThat(apply(recent, blind(7, WRITES))).containsExactly(before);
    assertThat(recent.between(0, Long.MAX_VALUE, 10)).isEmpty();
    assertThat(recent.coversFrom()).isEqualTo(before);
  }

  @Test
  void whenACommitHadNoWritesThenItIsNotKept() {
    RecentCommits recent = new RecentCommits(fixture.replica.last());
    var unused = apply(recent, blind(NO_WRITES));
    assertThat(recent.between(0, Long.MAX_VALUE, 10)).isEmpty();
  }

  @Test
  void whenThereAreTooManyThenTheOldestGoAndItIsKnownFromWhereOn() {
    RecentCommits recent = new RecentCommits(fixture.replica.last(), 100);
    List<Long> all = new ArrayList<>();
    for (int i = 0; i < 250; i++) {
      all.addAll(apply(recent, blind(WRITES)));
      fixture.apply(new Command.Applied(all.get(i)));
      int kept = Math.min(100, i + 1);
      assertThat(recent.between(0, Long.MAX_VALUE, 1000))
          .extracting(RecentCommits.Place::commitTimestamp)
          .isEqualTo(all.subList(all.size() - kept, all.size()));
    }
    assertThat(recent.coversFrom()).isEqualTo(all.get(149));
    assertThat(recent.find(all.get(149))).isEmpty();
    assertThat(recent.find(all.get(150))).hasSize(1);
  }
}
