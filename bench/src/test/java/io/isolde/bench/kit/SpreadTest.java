// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

class SpreadTest {

  @Test
  void whenTheCountIsOddThenTheMedianIsTheOneInTheMiddle() {
    assertThat(Spread.of(List.of(3.0, 1.0, 2.0))).isEqualTo(new Spread(1, 2, 3));
  }

  @Test
  void whenTheCountIsEvenThenTheMedianIsBetweenTheTwoInTheMiddle() {
    assertThat(Spread.of(List.of(4.0, 1.0, 2.0, 10.0))).isEqualTo(new Spread(1, 3, 10));
  }

  @Test
  void whenThereIsNothingThenThereIsNoSpread() {
    assertThatThrownBy(() -> Spread.of(List.of())).isInstanceOf(IllegalArgumentException.class);
  }
}
