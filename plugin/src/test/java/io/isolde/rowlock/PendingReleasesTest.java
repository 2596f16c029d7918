// SPDX-License-Identifier: Apache-2.0
package io.isolde.rowlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.lock.LockTable;
import io.isolde.rowlock.LockMessages.Granted;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class PendingReleasesTest {
  private static final int ATTEMPTS = 4;

  private final UUID transaction = UUID.randomUUID();
  private final List<UUID> sent = new ArrayList<>();

  /** What the leader says next. */
  private CompletableFuture<Optional<Granted>> answer = acknowledged();

  private final PendingReleases releases =
      new PendingReleases(
          released -> {
            sent.add(released);
            if (answer == null) {
              throw new IllegalStateException("no connection");
            }
            return answer;
          },
          ATTEMPTS);

  private static CompletableFuture<Optional<Granted>> acknowledged() {
    return CompletableFuture.completedFuture(
        Optional.of(
            new Granted(
                new LockTable.Answer(LockTable.Outcome.GRANTED, Optional.empty(), Set.of()), 0)));
  }

  @Test
  void whenAcknowledgedThenItIsSentOnce() {
    releases.release(transaction);
    releases.tick();
    assertThat(sent).containsExactly(transaction);
    assertThat(releases.size()).isZero();
  }

  @Test
  void whenNobodyLeadsOrTheLeaderIsSilentThenItIsSentAgain() {
    answer = CompletableFuture.completedFuture(Optional.empty());
    releases.release(transaction);
    answer = CompletableFuture.failedFuture(new TimeoutException());
    releases.tick();
    answer = null;
    releases.tick();
    answer = acknowledged();
    releases.tick();
    releases.tick();
    assertThat(sent).hasSize(4);
    assertThat(releases.size()).isZero();
  }

  @Test
  void whenTheLeaseHasEndedItThenItIsSentNoMore() {
    answer = new CompletableFuture<>();
    releases.release(transaction);
    for (int i = 0; i < 2 * ATTEMPTS; i++) {
      releases.tick();
    }
    assertThat(sent).hasSize(ATTEMPTS);
    assertThat(releases.size()).isZero();
  }

  @Test
  void whenMoreArePendingThanMayBeThenTheyAreSentOnce() {
    answer = new CompletableFuture<>();
    for (int i = 0; i <= PendingReleases.MAX_PENDING; i++) {
      releases.release(UUID.randomUUID());
    }
    assertThat(sent).hasSize(PendingReleases.MAX_PENDING + 1);
    assertThat(releases.size()).isEqualTo(PendingReleases.MAX_PENDING);
  }
}
