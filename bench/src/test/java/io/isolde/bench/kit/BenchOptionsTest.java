// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class BenchOptionsTest {

  @Test
  void whenAnOptionIsTooSmallThenASentenceSaysTheLeast() {
    assertThatThrownBy(
            () ->
                new BenchOptions(
                    0, 4, 3, 50, 10, 1024, 100, 1024, 0, NodeShare.ALL, 1, List.of(), 1000, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("The rounds are 0, but must be at least 1.");
  }

  @Test
  void whenOneConnectionCouldNotCarryTheRequestsThenTheyAreRefused() {
    assertThatThrownBy(
            () ->
                new BenchOptions(
                    5,
                    4,
                    3,
                    2000,
                    10,
                    1024,
                    100,
                    1024,
                    0,
                    NodeShare.ALL,
                    1,
                    List.of(),
                    1000,
                    false))
        .hasMessageContaining("at most 1000");
  }

  @Test
  void whenThereAreMoreWatchersThanAProcessCanHaveThenTheyAreRefused() {
    assertThatThrownBy(
            () ->
                new BenchOptions(
                    5,
                    4,
                    3,
                    50,
                    10,
                    1024,
                    100,
                    1024,
                    0,
                    NodeShare.ALL,
                    1,
                    List.of(),
                    10_001,
                    false))
        .hasMessageContaining("at most 10000");
  }
}
