// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RateTest {
  private final Rate rate = new Rate();

  @Test
  void whenThereWasOneLookThenThereIsNoRate() {
    assertThat(rate.perSecond()).isEmpty();
    rate.look(1_000, 500);
    assertThat(rate.perSecond()).isEmpty();
  }

  @Test
  void whenThereWereTwoLooksThenItIsTheGrowthBetweenThem() {
    rate.look(1_000, 500);
    rate.look(6_000, 600);
    assertThat(rate.perSecond()).hasValue(20.0);
  }

  @Test
  void whenLooksAreOlderThanAMinuteThenTheyNoLongerCount() {
    rate.look(0, 0);
    rate.look(60_000, 6_000_000);
    rate.look(120_000, 6_000_060);
    assertThat(rate.perSecond()).hasValue(1.0);
    rate.look(1_000_000, 7_000_000);
    assertThat(rate.perSecond()).isEmpty();
  }

  @Test
  void whenLooksFollowOneAnotherFastThenTheyAreNotRemembered() {
    rate.look(0, 0);
    rate.look(1, 1_000);
    assertThat(rate.perSecond()).isEmpty();
    rate.look(2_000, 2_000);
    assertThat(rate.perSecond()).hasValue(1_000.0);
  }

  @Test
  void whenTheCounterStartsAgainThenItIsAnother() {
    rate.look(0, 1_000);
    rate.look(2_000, 10);
    assertThat(rate.perSecond()).isEmpty();
    rate.look(4_000, 30);
    assertThat(rate.perSecond()).hasValue(10.0);
  }
}
