// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.strong;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class SuccessesTest {

  @Test
  void requestsThatSucceedCountAndOthersDoNot() {
    Successes successes = new Successes(1, 60);
    for (int i = 0; i < 6; i++) {
      CompletableFuture<Void> answer = new CompletableFuture<>();
      var unused = successes.watched(() -> answer).send();
      if (i % 2 == 0) {
        answer.complete(null);
      } else {
        answer.completeExceptionally(new IOException("no answer"));
      }
    }
    assertThat(successes.perSecond()).containsExactly(3 / 60.0);
  }

  @Test
  void whatSucceedsAfterTheLastStepDoesNotCount() {
    Successes successes = new Successes(1, 1e-9);
    var unused = successes.watched(() -> CompletableFuture.completedFuture(null)).send();
    assertThat(successes.perSecond()).containsExactly(0.0);
  }
}
