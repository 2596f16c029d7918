// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.metadata.Node;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The load against nodes that answer when the test wants it. */
class EpisodesTest {
  private static final Node NODE =
      (Node)
          Proxy.newProxyInstance(
              Node.class.getClassLoader(),
              new Class<?>[] {Node.class},
              (node, method, args) -> null);

  private static final StudyOptions OPTIONS =
      new StudyOptions(3, Profile.of("none"), 2, 0, 200, 1, false, 320, 1, Optional.empty());

  /** Writes take so long; nothing else takes any time. */
  private record SlowWrites(long millis) implements LoadRequests {
    @Override
    public CompletionStage<?> write(Node coordinator, long id, int version) {
      return new CompletableFuture<>().completeOnTimeout(null, millis, TimeUnit.MILLISECONDS);
    }

    @Override
    public CompletionStage<Integer> read(Node coordinator, long id) {
      return CompletableFuture.completedFuture(Episodes.VERSIONS - 1);
    }

    @Override
    public CompletionStage<?> roundTrip(Node coordinator) {
      return CompletableFuture.completedFuture(null);
    }
  }

  private static Seen run(LoadTime time, long writeMillis, Episodes.Limits limits)
      throws InterruptedException {
    return new Episodes(new SlowWrites(writeMillis), () -> List.of(NODE), OPTIONS, limits)
        .run(time, second -> {});
  }

  @Test
  void whenTooManyRowsAreUnderWayThenThoseLeftOutAreCounted() throws Exception {
    Seen seen = run(LoadTime.of(1), 2_000, new Episodes.Limits(1, 1_000));

    assertThat(seen.reads()).hasSize(Episodes.READS);
    assertThat(seen.rowsLeftOut()).isPositive();
  }

  @Test
  void whenTheLoadHasItsRowsThenNoMoreIsKept() throws Exception {
    Seen seen = run(LoadTime.of(1), 0, new Episodes.Limits(100, 2));

    assertThat(seen.reads()).hasSize(2 * Episodes.READS);
    assertThat(seen.rowsLeftOut()).isPositive();
  }

  @Test
  void whenANodeJoinsForLongThenTheLoadGoesOnUntilItHas() throws Exception {
    CountDownLatch joined = new CountDownLatch(1);
    Churn churn = new Churn(List.of(new Churn.Step(0.5, "node4 joins", () -> await(joined))));
    churn.begin();

    LoadTime time = new LoadTime(1, 20, churn::isDone);
    Seen seen =
        new Episodes(new SlowWrites(0), () -> List.of(NODE), OPTIONS, Episodes.Limits.USUAL)
            .run(time, second -> joinAfterTwo(second, joined));
    churn.end();

    Churn.Timeline timeline = churn.timeline(seen);
    assertThat(timeline.seconds()).hasSizeBetween(2, 19);
    assertThat(timeline.seconds().get(1).reads()).isPositive();
    assertThat(timeline.events())
        .extracting(Churn.Event::what)
        .containsExactly("node4 joins", "node4 joins: done");
  }

  @Test
  void whenANodeNeverJoinsThenTheLoadEndsAllTheSame() {
    assertThat(new LoadTime(5, 9, () -> false).goesOnAfter(8)).isTrue();
    assertThat(new LoadTime(5, 9, () -> false).goesOnAfter(9)).isFalse();
  }

  private static void joinAfterTwo(int second, CountDownLatch joined) {
    if (second == 2) {
      joined.countDown();
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
