// SPDX-License-Identifier: Apache-2.0
package io.isolde.answer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import org.apache.cassandra.utils.concurrent.OpOrder;
import org.junit.jupiter.api.Test;

class AnswersTest {
  private final OpOrder order = new OpOrder();

  /** Whether all groups from before are closed. */
  private boolean isOver(OpOrder.Barrier barrier) {
    return barrier.getSyncPoint().isFinished();
  }

  private OpOrder.Barrier barrier() {
    OpOrder.Barrier barrier = order.newBarrier();
    barrier.issue();
    return barrier;
  }

  @Test
  void whenAnAnswerComesLaterThenItsGroupIsOpenUntilThen() {
    CompletableFuture<String> later = new CompletableFuture<>();
    CompletableFuture<String> answer = Answers.within(order.start(), () -> later);
    OpOrder.Barrier barrier = barrier();
    assertThat(isOver(barrier)).isFalse();
    later.complete("it");
    assertThat(isOver(barrier)).isTrue();
    assertThat(Answers.await(answer)).isEqualTo("it");
  }

  @Test
  void whenAnAnswerFailsLaterThenItsGroupIsClosedAndItFailsAsItDid() {
    CompletableFuture<String> later = new CompletableFuture<>();
    CompletableFuture<String> answer = Answers.within(order.start(), () -> later);
    OpOrder.Barrier barrier = barrier();
    later.completeExceptionally(new IllegalArgumentException("no"));
    assertThat(isOver(barrier)).isTrue();
    assertThatThrownBy(() -> Answers.await(answer))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no");
  }

  @Test
  void whenAStatementCanNotBeginThenItsGroupIsClosed() {
    assertThatThrownBy(
            () ->
                Answers.within(
                    order.start(),
                    () -> {
                      throw new IllegalStateException("closed");
                    }))
        .isInstanceOf(IllegalStateException.class);
    assertThat(isOver(barrier())).isTrue();
  }
}
