// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class BackoffTest {
  private static final Backoff BACKOFF =
      new Backoff(Duration.ofMillis(5), Duration.ofMillis(50), 20, Duration.ofSeconds(10));

  @Test
  void whenAttemptsFailThenTheBoundOfThePauseDoublesUpToTheCap() {
    assertThat(BACKOFF.pauseAfter(1, Duration.ZERO, 1)).contains(Duration.ofMillis(5));
    assertThat(BACKOFF.pauseAfter(2, Duration.ZERO, 1)).contains(Duration.ofMillis(10));
    assertThat(BACKOFF.pauseAfter(4, Duration.ZERO, 1)).contains(Duration.ofMillis(40));
    assertThat(BACKOFF.pauseAfter(5, Duration.ZERO, 1)).contains(Duration.ofMillis(50));
    assertThat(BACKOFF.pauseAfter(19, Duration.ZERO, 1)).contains(Duration.ofMillis(50));
  }

  @Test
  void whenTheJitterIsSmallThenThePauseIs() {
    assertThat(BACKOFF.pauseAfter(2, Duration.ZERO, 0)).contains(Duration.ZERO);
    assertThat(BACKOFF.pauseAfter(2, Duration.ZERO, 0.5)).contains(Duration.ofMillis(5));
  }

  @Test
  void whenAllAttemptsAreMadeThenThereIsNoOther() {
    assertThat(BACKOFF.pauseAfter(20, Duration.ZERO, 0)).isEmpty();
  }

  @Test
  void whenThePauseWouldEndAfterTheTimeLimitThenThereIsNoOther() {
    assertThat(BACKOFF.pauseAfter(1, Duration.ofMillis(9_994), 1)).isPresent();
    assertThat(BACKOFF.pauseAfter(1, Duration.ofMillis(9_995), 1)).isEmpty();
  }

  @Test
  void whenACommitIsRepeatedVeryOftenThenOnlyTheTimeLimits() {
    Backoff commit = Backoff.ofCommit(TransactionOptions.defaults());

    assertThat(commit.pauseAfter(1_000_000, Duration.ofSeconds(9), 1))
        .contains(TransactionOptions.defaults().backoffCap());
    assertThat(commit.pauseAfter(1, Duration.ofSeconds(10), 0)).isEmpty();
  }
}
