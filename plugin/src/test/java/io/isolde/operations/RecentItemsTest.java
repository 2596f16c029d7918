// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class RecentItemsTest {
  private final RecentItems<String> ring = new RecentItems<>(3);

  @Test
  void whenNothingWasAddedThenItIsEmpty() {
    assertThat(ring.newestFirst()).isEmpty();
  }

  @Test
  void whenItIsNotFullThenItHasAllOfThemNewestFirst() {
    ring.add("a");
    ring.add("b");
    assertThat(ring.newestFirst())
        .containsExactly(new RecentItems.Numbered<>(1, "b"), new RecentItems.Numbered<>(0, "a"));
  }

  @Test
  void whenItIsFullThenTheOldestGoesAndNumbersGoOn() {
    for (String entry : new String[] {"a", "b", "c", "d", "e"}) {
      ring.add(entry);
    }
    assertThat(ring.newestFirst())
        .containsExactly(
            new RecentItems.Numbered<>(4, "e"),
            new RecentItems.Numbered<>(3, "d"),
            new RecentItems.Numbered<>(2, "c"));
  }

  @Test
  void whenItCouldHoldNothingThenItIsRefused() {
    assertThatThrownBy(() -> new RecentItems<>(0)).hasMessageContaining("at least one");
  }
}
