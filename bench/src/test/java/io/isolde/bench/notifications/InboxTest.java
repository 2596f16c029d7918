// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class InboxTest {
  private final Inbox inbox = new Inbox();

  @Test
  void whenItBeginsAgainThenTheFirstPositionCounts() {
    assertThat(inbox.hasStarted()).isFalse();
    inbox.startAfter(7);
    inbox.startAfter(9);
    assertThat(inbox.heard().start()).isEqualTo(7);
  }

  @Test
  void whenSomethingComesThenTheTimeSinceTheLastIsKnown() {
    assertThat(inbox.add(10, 1_000)).isEqualTo(Inbox.NONE);
    assertThat(inbox.add(20, 1_500)).isEqualTo(500);
    assertThat(inbox.heard().ids()).containsExactly(10L, 20L);
  }

  @Test
  void whenTheLastHasComeThenItIsReached() {
    inbox.startAfter(5);
    assertThat(inbox.hasReached(5)).isTrue();
    assertThat(inbox.hasReached(10)).isFalse();
    inbox.add(10, 0);
    assertThat(inbox.hasReached(10)).isTrue();
  }

  @Test
  void whenMoreComesThanFitsThenItIsNotKept() {
    for (int i = 0; i < Inbox.MAX_IDS + 1; i++) {
      inbox.add(i, i);
    }
    assertThat(inbox.heard().ids()).hasSize(Inbox.MAX_IDS);
  }
}
