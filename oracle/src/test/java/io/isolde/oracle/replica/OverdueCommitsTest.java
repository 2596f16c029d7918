// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import static io.isolde.oracle.replica.ReplicaFixture.blind;
import static io.isolde.oracle.replica.ReplicaFixture.timestamp;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class OverdueCommitsTest {
  private static final long OVERDUE = 100;
  private static final long STEP = 10;

  private final ReplicaFixture fixture = new ReplicaFixture();
  private final OverdueCommits overdue = new OverdueCommits(OVERDUE, 0);
  private int sequence;

  private long commit(long row) {
    return timestamp(fixture.apply(blind(fixture.session, sequence++, row)));
  }

  /** Looks regularly. */
  private List<Long> lookUntil(long from, long to) {
    List<Long> due = new ArrayList<>();
    for (long now = from; now <= to; now += STEP) {
      due.addAll(overdue.due(fixture.replica, now));
    }
    return due;
  }

  @Test
  void whenACommitIsPendingForLongThenItIsDueOnce() {
    long first = commit(1);
    assertThat(lookUntil(0, 90)).isEmpty();
    long second = commit(2);
    assertThat(lookUntil(100, 110)).containsExactly(first);
    fixture.apply(new Command.DeclareInDoubt(first));
    assertThat(lookUntil(120, 180)).isEmpty();
    assertThat(lookUntil(190, 220)).containsExactly(second);
  }

  @Test
  void whenNothingComesOfItThenItIsDueAgain() {
    long commit = commit(1);
    assertThat(lookUntil(0, 190)).containsExactly(commit);
    assertThat(lookUntil(200, 210)).containsExactly(commit);
  }

  @Test
  void whenACommitIsAppliedInTimeThenItIsNeverDue() {
    long commit = commit(1);
    assertThat(lookUntil(0, 90)).isEmpty();
    fixture.apply(new Command.Applied(commit));
    assertThat(lookUntil(100, 400)).isEmpty();
  }

  @Test
  void whenNothingIsToBeWaitedForThenItIsDueAtOnce() {
    long first = commit(1);
    commit(2);
    assertThat(lookUntil(0, 40)).isEmpty();
    overdue.hasten(first);
    assertThat(lookUntil(50, 90)).containsExactly(first);
  }

  @Test
  void whenTheLeaderWasAwayThenItGivesEverybodyTheWholeTimeAgain() {
    long commit = commit(1);
    assertThat(lookUntil(0, 90)).isEmpty();
    assertThat(overdue.due(fixture.replica, 900)).isEmpty();
    assertThat(lookUntil(910, 990)).isEmpty();
    assertThat(lookUntil(1000, 1010)).containsExactly(commit);
  }
}
