// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class PatientRequestTest {
  private static final byte[] ANSWER = {1};
  private static final long LONG_MILLIS = 60_000;

  private final Deque<CompletableFuture<byte[]>> answers = new ArrayDeque<>();

  @Test
  void whenANodeHangsUpThenItIsAskedAgainUntilItAnswers() throws Exception {
    answers.addAll(List.of(hungUp(), hungUp(), CompletableFuture.completedFuture(ANSWER)));

    assertThat(new PatientRequest(answers::remove).await(LONG_MILLIS, LONG_MILLIS))
        .isEqualTo(ANSWER);
    assertThat(answers).isEmpty();
  }

  @Test
  void whenPatienceIsOverThenTheFailureIsTold() {
    answers.addAll(List.of(hungUp(), hungUp()));

    assertThatThrownBy(() -> new PatientRequest(answers::remove).await(0, LONG_MILLIS))
        .isInstanceOf(ExecutionException.class)
        .hasMessageContaining("hung up");
    assertThat(answers).hasSize(1);
  }

  @Test
  void whenANodeIsSilentThenItIsWaitedForAndNotAskedAgain() {
    answers.add(new CompletableFuture<>());

    assertThatThrownBy(() -> new PatientRequest(answers::remove).await(LONG_MILLIS, 10))
        .isInstanceOf(TimeoutException.class);
  }

  private static CompletableFuture<byte[]> hungUp() {
    return CompletableFuture.failedFuture(new IOException("hung up"));
  }
}
