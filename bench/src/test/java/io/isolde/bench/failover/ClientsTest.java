// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Workload;
import io.isolde.cluster.ToolException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ClientsTest {
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
    try (Clients first = new Clients(answers, 2, 20);
        Clients second = new Clients(fails, 2, 20);
        Clients third = new Clients(throwsAtOnce, 2, 20)) {
      Pause.until(
          "all have tried several times",
          PATIENCE_SECONDS,
          () -> sent.get() > 10 && second.failed() > 4 && third.failed() > 4);
      assertThat(first.failed()).isZero();
      assertThat(first.successes().hasSuccessSince(start)).isTrue();
      assertThat(second.successes().longestMillis(System.nanoTime())).isPositive();
      assertThat(third.lastFailure()).contains("gone");
    }
  }

  @Test
  void whenClosedThenNothingIsSentAnyMore() {
    AtomicInteger sent = new AtomicInteger();
    Clients clients = new Clients(counted(sent), 3, 20);
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
