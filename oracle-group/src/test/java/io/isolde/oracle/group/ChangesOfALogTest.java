// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.raft.Daemons;
import io.isolde.raft.GroupFailure;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Changes of a log of which all is visible at once. */
class ChangesOfALogTest {
  private static final int MAX_WRITES = 4;
  private static final long LONG_MILLIS = 30_000;

  private final ScheduledExecutorService thread = Daemons.timer("test");
  private final Changes changes = Changes.ofLog(thread, MAX_WRITES, 100, this::keep);
  private int kept;

  private void keep(int writes, long bytes) {
    kept += writes;
  }

  @AfterEach
  void stop() {
    thread.shutdown();
  }

  private CompletableFuture<Changes.Notification> ask(long after, long waitMillis) {
    return changes.after(OptionalLong.of(after), Set.of(7L), waitMillis);
  }

  @Test
  void whenTheReplicaHasNotBegunOrHasEndedThenOthersAreToBeAsked() throws Exception {
    assertThatThrownBy(() -> ask(0, 0).get()).hasCauseInstanceOf(GroupFailure.class);
    changes.begun(10);
    assertThat(ask(10, 0).get()).isEqualTo(new Changes.Notification(List.of(), 10, false));
    CompletableFuture<Changes.Notification> waiting = ask(10, LONG_MILLIS);
    changes.ended();
    assertThatThrownBy(() -> waiting.get(30, TimeUnit.SECONDS))
        .hasCauseInstanceOf(GroupFailure.class);
    assertThatThrownBy(() -> ask(10, 0).get()).hasCauseInstanceOf(GroupFailure.class);
  }

  @Test
  void whenAWriteComesThenThoseHearOfItWhoWaitAndThoseWhoAskLater() throws Exception {
    changes.begun(10);
    CompletableFuture<Changes.Notification> waiting = ask(10, LONG_MILLIS);
    CompletableFuture<Changes.Notification> ahead = ask(14, LONG_MILLIS);
    changes.written(12, new long[] {8});
    assertThat(waiting).isNotDone();
    changes.written(14, new long[] {7, 8});
    assertThat(waiting.get(30, TimeUnit.SECONDS).commits()).containsExactly(14L);
    assertThat(ask(10, 0).get().commits()).containsExactly(14L);
    assertThat(ask(14, 0).get().commits()).isEmpty();
    changes.written(16, new long[] {7});
    assertThat(ahead.get(30, TimeUnit.SECONDS).commits()).containsExactly(16L);
  }

  @Test
  void whenMoreIsWrittenThanIsKeptThenThoseAreLostWhoWereBefore() throws Exception {
    changes.begun(10);
    for (int i = 1; i <= MAX_WRITES + 1; i++) {
      changes.written(10 + 2 * i, new long[] {7});
    }
    assertThat(ask(10, 0).get().isLost()).isTrue();
    assertThat(ask(10, 0).get().position()).isEqualTo(20);
    assertThat(ask(12, 0).get().commits()).containsExactly(14L, 16L, 18L, 20L);
    assertThat(changes.lost()).isEqualTo(2);
  }

  @Test
  void whenOthersNeedTheRoomThenWhoWaitsGoesOnAndWhoIsOlderLoses() throws Exception {
    changes.begun(10);
    CompletableFuture<Changes.Notification> waiting = ask(10, LONG_MILLIS);
    changes.written(12, new long[] {8});
    changes.written(14, new long[] {8});
    changes.forgetOldest(10, 12);
    assertThat(changes.oldest()).hasValue(14);
    assertThat(ask(10, 0).get().isLost()).isTrue();
    assertThat(ask(12, 0).get()).isEqualTo(new Changes.Notification(List.of(), 14, false));
    assertThat(waiting).isNotDone();
    changes.written(16, new long[] {7});
    assertThat(waiting.get(30, TimeUnit.SECONDS).commits()).containsExactly(16L);
    assertThat(kept).isEqualTo(2);
    changes.ended();
    assertThat(kept).isZero();
    assertThat(changes.bytes()).isZero();
  }

  @Test
  void whenAReplicaStartsThenItKnowsOnlyWhatItReadsAgain() throws Exception {
    changes.begun(10);
    changes.written(12, new long[] {7});
    changes.ended();
    changes.begun(12);
    changes.written(14, new long[] {7});
    assertThat(ask(10, 0).get().isLost()).isTrue();
    assertThat(ask(12, 0).get().commits()).containsExactly(14L);
  }
}
