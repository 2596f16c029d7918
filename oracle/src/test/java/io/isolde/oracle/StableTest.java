// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static io.isolde.oracle.OracleFixture.begin;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class StableTest {
  private final OracleFixture fixture = new OracleFixture();
  private final StatusOracle oracle = fixture.oracle;

  @Test
  void whenNothingIsPendingThenStableFollowsTheClock() {
    assertThat(begin(oracle, 101)).isEqualTo(100);
    assertThat(begin(oracle, 50)).isEqualTo(100);
    assertThat(begin(oracle, 201)).isEqualTo(200);
    assertThat(oracle.stable()).isEqualTo(200);
  }

  @Test
  void whenACommitIsPendingThenStableStaysJustBelowIt() {
    long commit = fixture.commit(100, 1);
    assertThat(begin(oracle, 500)).isEqualTo(commit - 2);
    oracle.applied(commit);
    assertThat(oracle.stable()).isEqualTo(commit);
    assertThat(begin(oracle, 500)).isEqualTo(500);
  }

  @Test
  void whenCommitsAreAppliedOutOfOrderThenStableWaitsForTheFirst() {
    long first = fixture.commit(100, 1);
    long second = fixture.commit(200, 2);
    long third = fixture.commit(300, 3);
    oracle.applied(second);
    assertThat(oracle.stable()).isEqualTo(first - 2);
    oracle.applied(first);
    assertThat(oracle.stable()).isEqualTo(third - 2);
    oracle.applied(third);
    assertThat(oracle.stable()).isEqualTo(third);
  }

  @Test
  void whenACommitFollowsAReadOfStableThenItIsAboveIt() {
    long stable = begin(oracle, 1000);
    assertThat(fixture.commit(0, 1)).isGreaterThan(stable);
  }

  @Test
  void whenAFreshTimestampIsTakenThenNoCommitHasIt() {
    long horizon = oracle.next(100);
    assertThat(horizon).isEqualTo(100);
    assertThat(fixture.commit(100, 1)).isEqualTo(102);
    assertThat(oracle.lastIssued()).isEqualTo(102);
  }

  @Test
  void whenSomethingIsAppliedThatIsNotPendingThenItIsRefused() {
    long commit = fixture.commitAndApply(100, 1);
    assertThatThrownBy(() -> oracle.applied(commit))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("No commit with timestamp 100 waits for being applied.");
  }

  @Property
  void whateverTheOrderOfAppliesThenStableNeverPassesAPendingCommitNorGoesBack(@ForAll long seed) {
    Random random = new Random(seed);
    OracleFixture some = new OracleFixture();
    List<Long> pending = new ArrayList<>();
    long stable = 0;
    for (int step = 0; step < 60; step++) {
      if (pending.isEmpty() || random.nextBoolean()) {
        pending.add(some.commit(random.nextInt(1000), step));
      } else if (random.nextInt(4) == 0) {
        some.oracle.inDoubt(pending.get(random.nextInt(pending.size())));
      } else {
        some.oracle.applied(pending.remove(random.nextInt(pending.size())));
      }
      long next = begin(some.oracle, random.nextInt(1000));
      assertThat(next).isGreaterThanOrEqualTo(stable);
      assertThat(pending)
          .allMatch(commit -> commit > next || some.oracle.inDoubt().contains(commit));
      stable = next;
    }
  }
}
