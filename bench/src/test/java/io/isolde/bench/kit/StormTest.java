// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class StormTest {

  @Test
  void whenItBlowsThenItKeepsItsPaceAndEnds() {
    AtomicInteger sent = new AtomicInteger();
    Workload workload =
        () -> {
          sent.incrementAndGet();
          return CompletableFuture.completedFuture(null);
        };
    try (Storm storm = Storm.start(new Storm.Plan(workload, 1000, Duration.ofMillis(500)))) {
      assertThat(storm.answeredPerSecond()).isPositive().isLessThan(1010);
    }
    int atTheEnd = sent.get();
    assertThat(atTheEnd).isPositive();
    assertThat(sent).hasValue(atTheEnd);
  }

  @Test
  void whenNobodyAnswersThenRequestsArePiledUpToABoundOnly() {
    AtomicInteger sent = new AtomicInteger();
    CompletableFuture<Void> answer = new CompletableFuture<>();
    Workload workload =
        () -> {
          sent.incrementAndGet();
          return answer;
        };
    try (Storm storm = Storm.start(new Storm.Plan(workload, 10_000, Duration.ofMillis(300)))) {
      assertThat(sent).hasValueLessThanOrEqualTo(200);
      assertThat(storm.answeredPerSecond()).isZero();
      answer.complete(null);
    }
  }
}
