// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.DriverTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class WatchTest {
  /** Answers in their order; then nothing comes. */
  private static final class Answers implements WatchRequests {
    private final Deque<Object> answers = new ArrayDeque<>();
    private final List<Long> asked = new ArrayList<>();

    @Override
    public CompletionStage<Notification> ask(OptionalLong after) {
      asked.add(after.orElse(-1));
      Object next = answers.poll();
      if (next == null) {
        return new CompletableFuture<>();
      }
      return next instanceof Throwable failure
          ? CompletableFuture.failedFuture(failure)
          : CompletableFuture.completedFuture((Notification) next);
    }

    private Answers then(Object... more) {
      answers.addAll(List.of(more));
      return this;
    }
  }

  private static final class Heard implements WatchListener {
    private final List<String> events = new ArrayList<>();
    private Watch toClose;

    @Override
    public void changed(long commitTimestamp) {
      if (commitTimestamp == 666) {
        throw new IllegalArgumentException("of the listener");
      }
      events.add("changed " + commitTimestamp);
      if (toClose != null) {
        toClose.close();
      }
    }

    @Override
    public void lost(long position) {
      events.add("lost " + position);
    }

    @Override
    public void failed(Throwable error) {
      events.add("failed " + error.getMessage());
    }
  }

  private final FakeTiming timing = new FakeTiming();
  private final Heard heard = new Heard();

  private static WatchRequests.Notification at(long position, Long... commits) {
    return new WatchRequests.Notification(List.of(commits), position, false);
  }

  private Watch start(Answers answers, OptionalLong after) {
    return Watch.start(answers, timing, after, heard, Runnable::run);
  }

  @Test
  void whenCommitsComeThenEachIsHeardInOrderAndTheNextQuestionIsAfterThem() {
    Answers answers = new Answers().then(at(5), at(9, 6L, 8L), at(12, 12L));
    Watch watch = start(answers, OptionalLong.empty());
    assertThat(heard.events).containsExactly("changed 6", "changed 8", "changed 12");
    assertThat(answers.asked).containsExactly(-1L, 5L, 9L, 12L);
    assertThat(watch.position()).hasValue(12);
    assertThat(watch.isOpen()).isTrue();
  }

  @Test
  void whenRequestsFailThenItAsksAgainAfterTheSamePositionWithPauses() {
    Answers answers =
        new Answers()
            .then(
                at(5),
                new DriverTimeoutException("late"),
                new ClosedChannelException(),
                new RejectedExecutionException("of the driver, for a moment"),
                at(6, 6L));
    Watch unused = start(answers, OptionalLong.of(3));
    assertThat(heard.events).containsExactly("changed 6");
    assertThat(answers.asked).containsExactly(3L, 5L, 5L, 5L, 5L, 6L);
    assertThat(timing.pauses).hasSize(3).isSorted();
  }

  @Test
  void whenNoNodePushesAnythingForNowThenItAsksAgainAndEndsIfThatIsForGood() {
    Answers answers =
        new Answers()
            .then(
                at(5),
                IsoldeException.ofPush("REQUEST_FAILED", true, "Not now.", null),
                at(6, 6L),
                IsoldeException.ofPush("UNAUTHORIZED", false, "Never.", null));
    Watch watch = start(answers, OptionalLong.of(3));
    assertThat(answers.asked).containsExactly(3L, 5L, 5L, 6L);
    assertThat(heard.events).hasSize(2).first().isEqualTo("changed 6");
    assertThat(watch.isOpen()).isFalse();
  }

  @Test
  void whenTheStatementIsWrongThenItEnds() {
    Answers answers = new Answers().then(at(5), new IllegalArgumentException("wrong"), at(6, 6L));
    Watch watch = start(answers, OptionalLong.empty());
    assertThat(heard.events).containsExactly("failed wrong");
    assertThat(watch.isOpen()).isFalse();
    assertThat(watch.position()).hasValue(5);
  }

  @Test
  void whenTheSessionIsClosedThenItEnds() {
    Watch watch =
        start(new Answers().then(new IllegalStateException("closed")), OptionalLong.empty());
    assertThat(watch.isOpen()).isFalse();
  }

  @Test
  void whenTrackIsLostThenItIsSaidAndTheWatchGoesOnFromThere() {
    Answers answers =
        new Answers().then(new WatchRequests.Notification(List.of(), 20, true), at(21, 21L));
    Watch unused = start(answers, OptionalLong.of(3));
    assertThat(heard.events).containsExactly("lost 20", "changed 21");
    assertThat(answers.asked).containsExactly(3L, 20L, 21L);
  }

  @Test
  void whenTheListenerThrowsThenTheWatchEndsInFrontOfThatCommit() {
    Watch watch = start(new Answers().then(at(700, 5L, 666L, 667L)), OptionalLong.empty());
    assertThat(heard.events).containsExactly("changed 5", "failed of the listener");
    assertThat(watch.position()).hasValue(5);
  }

  @Test
  void whenItIsClosedThenNothingMoreIsHeard() {
    CompletableFuture<WatchRequests.Notification> later = new CompletableFuture<>();
    Watch watch = Watch.start(after -> later, timing, OptionalLong.empty(), heard, Runnable::run);
    heard.toClose = watch;
    later.complete(at(9, 5L, 6L));
    assertThat(heard.events).containsExactly("changed 5");
    assertThat(watch.isOpen()).isFalse();
  }

  @Test
  void whenTheCommonPoolHasOneThreadThenListenersStillRunInIt() {
    String thread =
        CompletableFuture.supplyAsync(() -> Thread.currentThread().getName(), Watch.COMMON).join();
    assertThat(thread).startsWith("ForkJoinPool.commonPool");
  }
}
