// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import static io.isolde.oracle.replica.ReplicaFixture.CONFIG;
import static io.isolde.oracle.replica.ReplicaFixture.RESERVATION;
import static io.isolde.oracle.replica.ReplicaFixture.blind;
import static io.isolde.oracle.replica.ReplicaFixture.timestamp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class LeadershipTest {
  private static final long NOW = 50_000;

  private final ReplicaFixture fixture = new ReplicaFixture();
  private final OracleReplica replica = fixture.replica;
  private Leadership leadership;

  LeadershipTest() {
    fixture.lead(CONFIG, NOW);
    leadership = fixture.leadership;
  }

  @Test
  void whenTheFirstEntryIsNotAppliedThenNothingIsServed() {
    Leadership next = new Leadership(replica, RESERVATION);
    assertNotServing(next);
    LogEntry first = next.firstEntry(CONFIG, NOW);
    assertNotServing(next);
    replica.apply(first);
    next.entryApplied(first);
    assertThat(next.isServing()).isTrue();
    assertThat(next.startTimestamp(NOW)).isGreaterThanOrEqualTo(NOW);
  }

  @Test
  void whenAnotherLeaderIsAppliedThenTheOldOneServesNoMore() {
    leadership.startTimestamp(NOW);
    fixture.lead(CONFIG, NOW);
    assertNotServing(leadership);
    assertThat(fixture.leadership.isServing()).isTrue();
  }

  @Test
  void aLeaderStartsCatchesUpServesAndIsOver() {
    long commit = timestamp(fixture.apply(blind(fixture.session, 0, 1)));
    Leadership next = new Leadership(replica, RESERVATION);
    assertThat(next.phase()).isEqualTo(Leadership.Phase.STARTING);
    LogEntry first = next.firstEntry(CONFIG, NOW);
    replica.apply(first);
    next.entryApplied(first);
    assertThat(next.phase()).isEqualTo(Leadership.Phase.CATCHING_UP);
    next.applied(List.of(commit));
    assertThat(next.phase()).isEqualTo(Leadership.Phase.CAUGHT_UP);
    assertThat(leadership.phase()).isEqualTo(Leadership.Phase.OVER);
  }

  @Test
  void whenTheReplicaGetsAnotherStateThenItsLeaderIsOverInAnyPhase() {
    Leadership next = new Leadership(replica, RESERVATION);
    next.end();
    leadership.end();
    assertThat(next.phase()).isEqualTo(Leadership.Phase.OVER);
    assertNotServing(leadership);
    assertThat(leadership.phase()).isEqualTo(Leadership.Phase.OVER);
  }

  private static void assertNotServing(Leadership some) {
    assertThat(some.isServing()).isFalse();
    assertThatThrownBy(() -> some.startTimestamp(NOW)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> some.entry(List.of(), NOW)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void whenNothingIsUnderWayThenStartsFollowTheClockAsFarAsReserved() {
    assertThat(leadership.startTimestamp(NOW + 101)).isEqualTo(NOW + 100);
    assertThat(leadership.startTimestamp(NOW + 50)).isEqualTo(NOW + 100);
    assertThat(leadership.startTimestamp(NOW + 10 * RESERVATION)).isEqualTo(NOW + RESERVATION);
  }

  @Test
  void whenACommitIsSetAsideThenStartsFollowTheClockAgain() {
    long commit = timestamp(fixture.apply(blind(fixture.session, 0, 1)));
    assertThat(leadership.startTimestamp(NOW + 500)).isLessThan(commit);
    fixture.apply(new Command.DeclareInDoubt(commit));
    assertThat(leadership.startTimestamp(NOW + 500)).isEqualTo(NOW + 500);
    assertThat(replica.inDoubt().contains(commit)).isTrue();
  }

  @Test
  void whenAnEntryIsUnderWayThenStartsDoNotFollowTheClock() {
    LogEntry entry = leadership.entry(List.of(blind(fixture.session, 0, 1)), NOW + 10);
    long start = leadership.startTimestamp(NOW + 500);
    long commit = timestamp(replica.apply(entry).get(0));
    assertThat(start).isLessThan(commit);
    leadership.entryApplied(entry);
    assertThat(leadership.startTimestamp(NOW + 500)).isLessThan(commit);
    fixture.apply(new Command.Applied(commit));
    assertThat(leadership.startTimestamp(NOW + 500)).isEqualTo(NOW + 500);
  }

  @Test
  void whenACommitIsAppliedThenItIsVisibleAtOnceAndTheNextEntrySaysSoFirst() {
    long commit = timestamp(fixture.apply(blind(fixture.session, 0, 1)));
    assertThat(leadership.stable()).isLessThan(commit);
    assertThat(leadership.applied(List.of(commit))).containsExactly(commit);
    assertThat(leadership.stable()).isEqualTo(commit);
    assertThat(replica.isPending(commit)).isTrue();
    assertThat(leadership.unreported()).contains(new Command.Applied(commit));
    Command next = blind(fixture.session, 1, 2);
    assertThat(leadership.entry(List.of(next), NOW).commands())
        .containsExactly(new Command.Applied(commit), next);
    assertThat(leadership.unreported()).isEmpty();
  }

  @Test
  void whenAnEntryIsDroppedThenAnotherSaysWhatIsApplied() {
    long commit = timestamp(fixture.apply(blind(fixture.session, 0, 1)));
    leadership.applied(List.of(commit));
    leadership.entryDropped(leadership.entry(List.of(), NOW));
    LogEntry again = leadership.entry(List.of(), NOW);
    assertThat(again.commands()).containsExactly(new Command.Applied(commit));
    replica.apply(again);
    leadership.entryApplied(again);
    assertThat(leadership.applied(List.of(commit))).as("what the log does not know").isEmpty();
    assertThat(leadership.entry(List.of(), NOW).commands()).isEmpty();
  }

  @Test
  void whenCommitsAreAppliedInAnotherOrderThenTheOldestThatIsNotHoldsStable() {
    long first = timestamp(fixture.apply(blind(fixture.session, 0, 1)));
    long second = timestamp(fixture.apply(blind(fixture.session, 1, 2)));
    leadership.applied(List.of(second));
    assertThat(leadership.stable()).isLessThan(first);
    leadership.applied(List.of(first));
    assertThat(leadership.stable()).isEqualTo(second);
  }

  @Test
  void whenTheLastLeaderWasToldOfWhatTheLogDoesNotKnowThenTheNextSettlesWhenItIsTold() {
    long commit = timestamp(fixture.apply(blind(fixture.session, 0, 1)));
    leadership.applied(List.of(commit));
    long start = leadership.startTimestamp(NOW + 900);
    fixture.lead(CONFIG, NOW);
    leadership = fixture.leadership;
    assertThat(leadership.isServing()).isTrue();
    assertThat(leadership.isCaughtUp()).isFalse();
    assertThat(leadership.caughtUpAt()).isGreaterThanOrEqualTo(start);
    leadership.applied(List.of(commit));
    assertThat(leadership.isCaughtUp()).isTrue();
    assertThat(leadership.startTimestamp(NOW)).isGreaterThanOrEqualTo(start);
  }

  @Test
  void whenALeaderIsToldOfACommitThatItHasNotHeardOfThenItDoesNotTakeItForLogged() {
    long unheard = replica.last() + 2;
    assertThat(leadership.applied(List.of(unheard))).containsExactly(unheard);
    assertThat(leadership.stable()).isLessThan(unheard);
    assertThat(leadership.unreported()).isEmpty();
  }

  @Test
  void whenAnEntryIsToldTwiceThenTheOthersAreStillUnderWay() {
    LogEntry one = leadership.entry(List.of(), NOW);
    LogEntry same = leadership.entry(List.of(), NOW);
    leadership.entryDropped(one);
    leadership.entryDropped(one);
    leadership.entryApplied(one);
    assertThat(leadership.entriesUnderWay()).isEqualTo(1);
    leadership.entryApplied(same);
    assertThat(leadership.entriesUnderWay()).isZero();
  }

  @Test
  void whenAnEntryOfAnotherLeaderIsAppliedThenItIsNotCounted() {
    leadership.entry(List.of(), NOW);
    leadership.entryApplied(new LogEntry(NOW, 0, NOW, List.of()));
    assertThat(leadership.entriesUnderWay()).isEqualTo(1);
  }

  @Test
  void whenAStartWasGivenThenTheNextEntryCommitsAboveItThoughTheClockGoesBack() {
    long start = leadership.startTimestamp(NOW + 600);
    long commit =
        timestamp(fixture.apply(NOW - 5000, List.of(blind(fixture.session, 0, 1))).get(0));
    assertThat(commit).isGreaterThan(start);
  }

  @Test
  void whenTheLeaderWasLostThenTheNextOneCommitsAboveWhatItMayHaveGiven() {
    long start = leadership.startTimestamp(NOW + 900);
    fixture.lead(CONFIG, NOW);
    long commit = timestamp(fixture.apply(NOW, List.of(blind(fixture.session, 0, 1))).get(0));
    assertThat(commit).isGreaterThan(start);
  }

  @Test
  void whenAnEntryOfTheOldLeaderSurvivesThenItCommitsAboveWhatThatGaveAndTheNextAboveIt() {
    long start = leadership.startTimestamp(NOW + 300);
    LogEntry survivor = leadership.entry(List.of(blind(fixture.session, 0, 1)), NOW);
    long during = leadership.startTimestamp(NOW + 900);
    Leadership next = new Leadership(replica, RESERVATION);
    LogEntry first = next.firstEntry(CONFIG, NOW);
    long commit = timestamp(replica.apply(survivor).get(0));
    assertThat(commit).isGreaterThan(start).isGreaterThan(during);
    replica.apply(first);
    next.entryApplied(first);
    LogEntry entry = next.entry(List.of(blind(fixture.session, 1, 1)), NOW);
    assertThat(timestamp(replica.apply(entry).get(0))).isGreaterThan(commit);
    assertThat(next.startTimestamp(NOW + 900)).isLessThan(commit);
  }

  @Test
  void whenTheReservationRunsOutThenAnEntryIsNeeded() {
    assertThat(leadership.needsReservation(NOW)).isFalse();
    assertThat(leadership.needsReservation(NOW + RESERVATION)).isTrue();
    fixture.apply(NOW + RESERVATION, List.of(new Command.IssueTimestamp(0)));
    assertThat(leadership.needsReservation(NOW + RESERVATION)).isFalse();
  }

  @Test
  void whenALeaderLeadsTwiceThenItIsRefused() {
    assertThatThrownBy(() -> leadership.firstEntry(CONFIG, NOW))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> new Leadership(replica, 0))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
