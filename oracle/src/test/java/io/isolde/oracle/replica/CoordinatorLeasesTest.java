// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class CoordinatorLeasesTest {
  private static final long LEASE = 100;

  private final CoordinatorLeases leases = new CoordinatorLeases(LEASE, List.of(1L, 2L), 0);

  @Test
  void whenACoordinatorIsSilentForALeaseThenItIsExpired() {
    assertThat(leases.expired(50)).isEmpty();
    leases.renew(2, 10, 50);
    assertThat(leases.expired(100)).isEmpty();
    assertThat(leases.expired(101)).containsExactly(1L);
    assertThat(leases.silentMillis(2, 101)).isEqualTo(51);
    assertThat(leases.silentMillis(3, 101)).isEqualTo(-1);
  }

  @Test
  void whenTheLeaderWasAwayThenItJudgesNobody() {
    assertThat(leases.expired(151)).isEmpty();
    assertThat(leases.expired(200)).isEmpty();
    assertThat(leases.expired(250)).isEmpty();
    assertThat(leases.expired(252)).containsExactly(1L, 2L);
  }

  @Test
  void whenACoordinatorHasNotToldItsOldestStartThenNothingIsBelowTheWatermark() {
    leases.renew(1, 70, 10);
    assertThat(leases.oldestStart(90)).isZero();
    leases.renew(2, 80, 10);
    assertThat(leases.oldestStart(90)).isEqualTo(70);
    assertThat(leases.oldestStart(60)).isEqualTo(60);
  }

  @Test
  void whenRenewalsOvertakeEachOtherThenTheOldestStartDoesNotGoBack() {
    leases.renew(1, 70, 10);
    leases.renew(1, 60, 11);
    leases.renew(2, 80, 11);
    assertThat(leases.oldestStart(90)).isEqualTo(70);
  }

  @Test
  void whenThereIsNoCoordinatorThenAllThatIsStableIsTheOldest() {
    leases.follow(List.of(), 10);
    assertThat(leases.oldestStart(90)).isEqualTo(90);
  }

  @Test
  void whenSessionsAreOpenedAndClosedThenTheOthersKeepTheirs() {
    leases.renew(2, 80, 40);
    leases.follow(List.of(2L, 3L), 60);
    assertThat(leases.renew(1, 10, 60)).isFalse();
    assertThat(leases.renew(3, 85, 60)).isTrue();
    assertThat(leases.oldestStart(90)).isEqualTo(80);
    assertThat(leases.silentMillis(2, 60)).isEqualTo(20);
  }
}
