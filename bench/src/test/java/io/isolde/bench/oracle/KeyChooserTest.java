// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.oracle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class KeyChooserTest {
  private static final int DRAWN = 200_000;

  private static Map<Long, Long> counts(KeyChooser rows) {
    long[] drawn = new long[DRAWN];
    rows.fill(drawn);
    return Arrays.stream(drawn)
        .boxed()
        .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()));
  }

  @Test
  void whenUniformThenHardlyAnyRowComesTwice() {
    assertThat(counts(KeyChooser.uniform(new SplittableRandom(1))))
        .hasSizeGreaterThan(DRAWN * 98 / 100);
  }

  @Test
  void whenZipfianThenTheFirstRowComesTwiceAsOftenAsTheSecond() {
    Map<Long, Long> counts = counts(KeyChooser.zipfian(new SplittableRandom(1)));
    double first = counts.get(KeyChooser.hash(0));
    assertThat(first / DRAWN).isBetween(0.04, 0.07);
    assertThat(first / counts.get(KeyChooser.hash(1))).isBetween(1.7, 2.3);
    assertThat(counts).hasSizeBetween(DRAWN / 5, DRAWN / 2);
  }
}
