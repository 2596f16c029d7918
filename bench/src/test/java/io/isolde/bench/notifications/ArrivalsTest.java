// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ArrivalsTest {
  private final Arrivals arrivals = new Arrivals();
  private final Inbox first = new Inbox();
  private final Inbox second = new Inbox();

  /** One change has got no answer, so that nobody knows its id. */
  @Test
  void whenNotificationsOfAnEarlierChangeComeLateThenTheyAreNotTakenForTheNextOnes()
      throws Exception {
    arrivals.begin(2);
    arrivals.arrived(first, 5);
    arrivals.begin(2);
    arrivals.arrived(second, 5);
    arrivals.arrived(first, 6);
    assertThat(arrivals.await(6, 0)).isFalse();
    arrivals.reset();
    arrivals.arrived(second, 6);
    assertThat(arrivals.await(6, 0)).isTrue();
    assertThat(arrivals.latencies().getTotalCount()).isEqualTo(2);
  }

  @Test
  void whenMoreComeThanThereAreWatchersThenTheOthersCountForNothing() throws Exception {
    arrivals.begin(1);
    arrivals.arrived(first, 5);
    arrivals.arrived(first, 5);
    assertThat(arrivals.await(5, 0)).isTrue();
    assertThat(arrivals.latencies().getTotalCount()).isEqualTo(1);
  }
}
