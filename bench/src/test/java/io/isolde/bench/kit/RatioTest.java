// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RatioTest {

  @Test
  void whenTheWeatherChangesBetweenRoundsThenTheRatioIsTakenWithinEach() {
    Map<String, List<Sample>> samples =
        Map.of(
            "ours", List.of(Samples.of(90), Samples.of(45), Samples.of(8)),
            "theirs", List.of(Samples.of(100), Samples.of(50), Samples.of(10)));
    assertThat(new Ratio("ours_vs_theirs", "ours", "theirs").in(samples))
        .isEqualTo(new Spread(0.8, 0.9, 0.9));
  }
}
