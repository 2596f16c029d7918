// SPDX-License-Identifier: Apache-2.0
package io.isolde.study.distances;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.isolde.staleness.Delay;
import io.isolde.staleness.Place;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DistancesTest {
  private static final Place EU = new Place("eu", "r1");
  private static final Place EU2 = new Place("eu", "r2");
  private static final Place US = new Place("us", "r1");
  private static final Place ASIA = new Place("asia", "r1");

  private final RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(4);
  private final Distances distances =
      Distances.parse(
          """
          # as measured on a Tuesday
          rack: 100us
          datacenter: 1ms + uniform 0ms 2ms
          elsewhere: 0.1s
          eu us: 40ms + exp 5ms   # the cable
          """);

  private double mean(Delay delay) {
    return DoubleStream.generate(() -> delay.drawMicros(random))
        .limit(50_000)
        .average()
        .orElseThrow();
  }

  @Test
  void whenDistancesAreReadThenEachPairOfPlacesHasItsDelay() {
    assertThat(mean(distances.between(EU, EU))).isEqualTo(100);
    assertThat(mean(distances.between(EU, EU2))).isCloseTo(2_000, within(20.0));
    assertThat(mean(distances.between(EU, US))).isCloseTo(45_000, within(200.0));
    assertThat(mean(distances.between(US, EU))).isCloseTo(45_000, within(200.0));
    assertThat(mean(distances.between(EU, ASIA))).isEqualTo(100_000);
    assertThat(mean(distances.ofWrites())).isZero();
    assertThat(mean(Distances.parse("writes: exp 2ms").ofWrites())).isCloseTo(2_000, within(50.0));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          rack             | "rack" is not a line like
          street: 1ms      | "street" is neither rack
          rack: 5          | "5" is no delay like
          rack: 1ms + slow | "slow" is no delay like
          rack: -1ms       | "-1ms" is no delay like
          rack: uniform 3ms 1ms | must be finite and not negative
          """)
  void whenALineIsNotUnderstoodThenItIsNamed(String text, String sentence) {
    assertThatThrownBy(() -> Distances.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(sentence);
  }
}
