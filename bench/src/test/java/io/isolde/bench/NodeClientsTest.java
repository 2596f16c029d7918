// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.cluster.ToolException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class NodeClientsTest {
  private static final int PATIENCE_SECONDS = 20;

  @Test
  void whenOneNodeFailsThenItsClientsGoOnTryingAndTheOthersAreCountedApart() {
    long start = System.nanoTime();
    AtomicInteger sent = new AtomicInteger();
    Workload answers = counted(sent);
    Workload fails = () -> CompletableFuture.failedFuture(new ToolException("gone"));
    Workload throwsAtOnce =
        () -> {
          throw new ToolException("gone");
        };
    try (NodeClients clients = new NodeClients(List.of(answers, fails, throwsAtOnce), 2)) {
      Pause.until(
          "all have tried several times",
          PATIENCE_SECONDS,
          () -> sent.get() > 10 && clients.of(1).failed() > 4 && clients.of(2).failed() > 4);
      assertThat(clients.of(0).failed()).isZero();
      assertThat(clients.of(0).successes().hasSuccessSince(start)).isTrue();
      assertThat(clients.of(1).successes().longestMillis(System.nanoTime())).isPositive();
      assertThat(clients.lastFailure()).contains("gone");
    }
  }

  @Test
  void whenClosedThenNothingIsSentAnyMore() {
    AtomicInteger sent = new AtomicInteger();
    NodeClients clients = new NodeClients(List.of(counted(sent)), 3);
    Pause.until("some were sent", PATIENCE_SECONDS, () -> sent.get() > 10);
    clients.close();
    int atClose = sent.get();
    Pause.millis(100);
    assertThat(sent).hasValue(atClose);
  }

  private static Workload counted(AtomicInteger sent) {
    return () -> {
      sent.incrementAndGet();
      return CompletableFuture.completedFuture("done");
    };
  }
}
