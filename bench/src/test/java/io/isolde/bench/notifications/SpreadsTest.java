// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class SpreadsTest {

  @Test
  void whenAllHaveAsManyThenItIsOne() {
    assertThat(Spreads.mostPerMean(Map.of("a", 10, "b", 10), 2)).isEqualTo(1);
  }

  @Test
  void whenOneOfThreeHasAllThenItIsThree() {
    assertThat(Spreads.mostPerMean(Map.of("a", 10), 3)).isEqualTo(3);
  }

  @Test
  void whenThereIsNobodyThenItIsOne() {
    assertThat(Spreads.mostPerMean(Map.of(), 3)).isEqualTo(1);
  }
}
