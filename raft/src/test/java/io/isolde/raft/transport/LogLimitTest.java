// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Lines that repeat are logged once a minute. */
class LogLimitTest {
  private final AtomicLong nanos = new AtomicLong();
  private final LogLimit limit = new LogLimit(nanos::get);

  @Test
  void whenALineRepeatsWithinAMinuteThenItIsLoggedOnce() {
    assertThat(IntStream.range(0, 1000).filter(i -> limit.allows("same")).count()).isOne();
  }

  @Test
  void whenAMinuteHasPassedThenItIsLoggedAgain() {
    assertThat(limit.allows("same")).isTrue();
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(59));
    assertThat(limit.allows("same")).isFalse();
    nanos.addAndGet(TimeUnit.SECONDS.toNanos(1));
    assertThat(limit.allows("same")).isTrue();
  }

  @Test
  void whenLinesDifferThenEachIsLogged() {
    assertThat(limit.allows("one")).isTrue();
    assertThat(limit.allows("other")).isTrue();
  }

  @Test
  void whenThereAreVeryManyLinesThenTheOldestAreForgotten() {
    IntStream.range(0, 2000).forEach(line -> assertThat(limit.allows(line)).isTrue());
    assertThat(limit.allows(1999)).isFalse();
    assertThat(limit.allows(0)).isTrue();
  }
}
