// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RoundsTest {
  private static final Workload NOTHING = () -> CompletableFuture.completedFuture(null);

  private static List<String> order(int round) {
    return order(round, List.of("a", "b", "c"));
  }

  private static List<String> order(int round, List<String> names) {
    List<Case> cases = names.stream().map(name -> new Case(name, NOTHING)).toList();
    return Rounds.inOrderOf(round, cases).stream().map(Case::name).toList();
  }

  @Test
  void whenRoundsGoOnThenTheOrderRotatesAndTurns() {
    assertThat(order(0)).containsExactly("a", "b", "c");
    assertThat(order(1)).containsExactly("a", "c", "b");
    assertThat(order(2)).containsExactly("c", "a", "b");
  }

  @Test
  void whenRoundsGoOnThenEveryCaseIsTheFirstNowAndThen() {
    assertThat(IntStream.range(0, 6).mapToObj(round -> order(round).get(0)))
        .contains("a", "b", "c");
  }

  @Test
  void whenThereAreTwoThenTheyTakeTurns() {
    List<String> two = List.of("a", "b");
    assertThat(order(0, two)).containsExactly("a", "b");
    assertThat(order(1, two)).containsExactly("b", "a");
    assertThat(order(2, two)).containsExactly("a", "b");
  }
}
