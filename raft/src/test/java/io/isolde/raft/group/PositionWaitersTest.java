// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PositionWaitersTest {
  private final PositionWaiters<String> waiters = new PositionWaiters<>(2);

  @Test
  void whenTooManyWaitThenTheNextIsRefusedAndTheOthersAreTakenOutInTheirOrder() {
    PositionWaiters<Integer> many = new PositionWaiters<>(1024);
    for (int i = 0; i < 1024; i++) {
      assertThat(many.add(1024 - i, 1024 - i, Long.MAX_VALUE)).isTrue();
    }
    assertThat(many.add(7, 7, Long.MAX_VALUE)).isFalse();
    assertThat(many.reached(512)).isEqualTo(IntStream.rangeClosed(1, 512).boxed().toList());
    assertThat(many.add(7, 7, Long.MAX_VALUE)).isTrue();
    assertThat(many.all()).hasSize(513);
    assertThat(many.all()).isEmpty();
  }

  @Test
  void whenAWaiterHasWaitedLongEnoughThenItIsTakenOut() {
    assertThat(waiters.add(100, "first", 1_000)).isTrue();
    assertThat(waiters.add(50, "second", 1_010)).isTrue();
    assertThat(waiters.add(70, "third", 1_010)).isFalse();
    assertThat(waiters.reached(40)).isEmpty();
    assertThat(waiters.overdue(1_000)).containsExactly("first");
    assertThat(waiters.reached(50)).containsExactly("second");
    assertThat(waiters.all()).isEmpty();
  }
}
