// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** What becomes of watches when no node pushes anything. */
class PushClientTest {
  private static final Timing WITHOUT_PAUSES =
      new Timing() {
        @Override
        public long nanoTime() {
          return System.nanoTime();
        }

        @Override
        public double jitter() {
          return 0;
        }

        @Override
        public void sleep(Duration pause) {}

        @Override
        public Executor after(Duration pause) {
          return CompletableFuture.delayedExecutor(pause.toNanos(), TimeUnit.NANOSECONDS);
        }
      };

  private static Throwable failureWith(PushNodes nodes) throws Exception {
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    PushClient client = new PushClient(PushOptions.defaults(), nodes, WITHOUT_PAUSES);
    int unused =
        client.watch(
            new PushClient.Watcher() {
              @Override
              public String statement() {
                return "SELECT CHANGES FROM a.b";
              }

              @Override
              public List<String> bytes() {
                return List.of();
              }

              @Override
              public void changed(List<Long> commits, long position) {}

              @Override
              public void lost(long position) {}

              @Override
              public void failed(Throwable error) {
                failure.complete(error);
              }
            },
            OptionalLong.empty());
    Throwable error = failure.get(30, TimeUnit.SECONDS);
    assertThat(client.hasRoom()).isTrue();
    return error;
  }

  private static void assertPassing(Throwable error) {
    assertThat(error).isInstanceOf(IsoldeException.class);
    assertThat(((IsoldeException) error).isRetryable()).isTrue();
  }

  @Test
  void whenNoNodeCanBeReachedThenTheWatchFailsForNow() throws Exception {
    PushNodes.Place nobody = new PushNodes.Place("127.0.0.1:1", false);
    assertPassing(failureWith(() -> CompletableFuture.completedFuture(List.of(nobody))));
  }

  @Test
  void whenNoNodeHasAPortAnyMoreThenTheWatchFailsForNow() throws Exception {
    assertPassing(failureWith(() -> CompletableFuture.completedFuture(List.of())));
  }

  @Test
  void whenTheSessionIsClosedThenTheWatchFailsForGood() throws Exception {
    IllegalStateException closed = new IllegalStateException("The session is closed.");
    assertThat(failureWith(() -> CompletableFuture.failedFuture(closed))).isSameAs(closed);
  }
}
