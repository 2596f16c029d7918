// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class RingTest {
  private final Ring<String> ring = new Ring<>(3);

  @Test
  void whenNothingWasAddedThenItIsEmpty() {
    assertThat(ring.newestFirst()).isEmpty();
  }

  @Test
  void whenItIsNotFullThenItHasAllOfThemNewestFirst() {
    ring.add("a");
    ring.add("b");
    assertThat(ring.newestFirst())
        .containsExactly(new Ring.Numbered<>(1, "b"), new Ring.Numbered<>(0, "a"));
  }

  @Test
  void whenItIsFullThenTheOldestGoesAndNumbersGoOn() {
    for (String entry : new String[] {"a", "b", "c", "d", "e"}) {
      ring.add(entry);
    }
    assertThat(ring.newestFirst())
        .containsExactly(
            new Ring.Numbered<>(4, "e"), new Ring.Numbered<>(3, "d"), new Ring.Numbered<>(2, "c"));
  }

  @Test
  void whenItCouldHoldNothingThenItIsRefused() {
    assertThatThrownBy(() -> new Ring<>(0)).hasMessageContaining("at least one");
  }
}
