// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.overhead;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SoakTest {

  @Test
  void whenTheHeapGrowsThenTheGrowthIsFromTheFirstMinuteToTheLast() {
    assertThat(Soak.metrics(List.of(200.0, 300.0, 220.0)))
        .containsEntry("heap_mb_first", 200.0)
        .containsEntry("heap_mb_last", 220.0)
        .containsEntry("heap_mb_max", 300.0)
        .containsEntry("heap_growth_percent", 10.0);
  }
}
