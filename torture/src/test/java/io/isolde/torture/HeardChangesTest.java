// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Mistakes of a watch are found. */
class HeardChangesTest {
  private static final Map<Long, Set<Integer>> COMMITS =
      new TreeMap<>(
          Map.of(
              10L, Set.of(1), 20L, Set.of(1, 2), 30L, Set.of(2), 40L, Set.of(1), 50L, Set.of(1)));

  private static List<String> violations(long... heard) {
    HeardChanges changes = new HeardChanges(Set.of(1), 10);
    for (long commit : heard) {
      changes.changed(commit);
    }
    return changes.violations(COMMITS);
  }

  @Test
  void whenAllIsHeardOnceAndInOrderThenItIsFine() {
    assertThat(violations(20, 40, 50)).isEmpty();
  }

  @Test
  void whenACommitIsMissedDoubledOrInAnotherOrderThenItIsFound() {
    assertThat(violations(20, 50)).singleElement().asString().contains("missed [40]");
    assertThat(violations(20, 40, 40, 50)).singleElement().asString().contains("doubled [40]");
    assertThat(violations(40, 20, 50)).singleElement().asString().contains("another order");
    assertThat(violations(10, 20, 40, 50)).singleElement().asString().contains("[10]");
    assertThat(violations(20, 30, 40, 50)).singleElement().asString().contains("[30]");
  }

  @Test
  void whenAWatchEndsOrLosesTrackThenItIsFound() {
    HeardChanges changes = new HeardChanges(Set.of(7), 0);
    changes.lost(5);
    changes.failed(new IllegalStateException("why"));
    assertThat(changes.violations(COMMITS)).hasSize(2);
  }
}
