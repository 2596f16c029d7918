// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ClosedLoopTest {
  private static final Duration MOMENT = Duration.ofMillis(500);

  @Test
  void whenAnswersTakeAWhileThenExactlySoManyRequestsAreInFlight() {
    AtomicInteger inFlight = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    CompletableFuture<Void> allAreSent = new CompletableFuture<>();
    Executor inTenMillis = CompletableFuture.delayedExecutor(10, TimeUnit.MILLISECONDS);
    Measurement seen =
        ClosedLoop.run(
            () -> {
              if (most.accumulateAndGet(inFlight.incrementAndGet(), Math::max) == 8) {
                allAreSent.complete(null);
              }
              return allAreSent.thenRunAsync(inFlight::decrementAndGet, inTenMillis);
            },
            8,
            MOMENT);
    assertThat(most).hasValue(8);
    assertThat(inFlight).hasValue(0);
    assertThat(seen.p50Millis()).isGreaterThanOrEqualTo(9);
    assertThat(seen.p99Millis()).isGreaterThanOrEqualTo(seen.p50Millis());
    assertThat(seen.operationsPerSecond()).isEqualTo(seen.operations() / 0.5);
  }

  @Test
  void whenAnswersAreThereAtOnceThenTheStackDoesNotGrow() {
    Measurement seen = ClosedLoop.run(() -> CompletableFuture.completedFuture(null), 2, MOMENT);
    assertThat(seen.operations()).isPositive();
    assertThat(seen.errors()).isZero();
  }

  @Test
  void whenRequestsFailThenTheyAreCountedAsErrorsOnly() {
    Measurement seen =
        ClosedLoop.run(
            () -> {
              throw new IllegalStateException("no node");
            },
            2,
            MOMENT);
    assertThat(seen.operations()).isZero();
    assertThat(seen.errors()).isPositive();
    assertThat(seen.firstError()).hasValueSatisfying(e -> assertThat(e).contains("no node"));
  }
}
