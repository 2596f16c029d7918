// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.LogEntry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Members that do not lead ask the leader for what their watchers wait for. */
class VisibilityQuestionsTest {
  private final List<Long> asked = new ArrayList<>();
  private final List<CompletableFuture<Long>> answers = new ArrayList<>();
  private final List<Long> visible = new ArrayList<>();
  private final Queue<Runnable> tasks = new ArrayDeque<>();
  private final VisibilityQuestions questions =
      new VisibilityQuestions(this::ask, visible::add, tasks::add);

  private CompletableFuture<Long> ask(long timestamp) {
    asked.add(timestamp);
    CompletableFuture<Long> answer = new CompletableFuture<>();
    answers.add(answer);
    return answer;
  }

  private void run() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }

  @Test
  void whenManyCommitsAreWantedThenOneQuestionIsUnderWayAndTheNextIsForTheLast() {
    questions.want(10);
    run();
    questions.want(12);
    questions.want(16);
    questions.want(14);
    run();
    assertThat(asked).containsExactly(10L);
    answers.get(0).complete(99L); // More is visible than this member has perhaps applied.
    run();
    assertThat(visible).containsExactly(10L);
    assertThat(asked).containsExactly(10L, 16L);
    answers.get(1).complete(99L);
    run();
    assertThat(visible).containsExactly(10L, 16L);
    questions.want(18);
    run();
    assertThat(asked).containsExactly(10L, 16L, 18L);
  }

  @Test
  void whenAQuestionFailsThenTheNextCommitIsAskedFor() {
    questions.want(10);
    run();
    answers.get(0).completeExceptionally(new IllegalStateException("no leader"));
    run();
    questions.want(12);
    run();
    questions.want(14);
    answers.get(1).completeExceptionally(new IllegalStateException("no leader"));
    run();
    assertThat(visible).isEmpty();
    assertThat(asked).containsExactly(10L, 12L, 14L);
    answers.get(2).complete(14L);
    run();
    assertThat(visible).containsExactly(14L);
  }

  /** None may be forgotten between the end of a question and the next one. */
  @Test
  void whenThreadsWantCommitsWhileQuestionsEndThenTheLastBecomesVisible() throws Exception {
    AtomicLong newest = new AtomicLong();
    ExecutorService executor = Executors.newSingleThreadExecutor();
    VisibilityQuestions fast =
        new VisibilityQuestions(CompletableFuture::completedFuture, newest::set, executor);
    for (long timestamp = 1; timestamp <= 200_000; timestamp++) {
      fast.want(timestamp);
      if (timestamp % 1_000 == 0) {
        long expected = timestamp;
        long endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (newest.get() < expected && System.nanoTime() - endNanos < 0) {
          Thread.onSpinWait();
        }
        assertThat(newest.get()).isEqualTo(expected);
      }
    }
    executor.shutdown();
  }

  private static void apply(Changes changes, long commitTimestamp, long id, boolean isLeading) {
    CommitRequest request =
        new CommitRequest(
            null, IsolationLevel.SNAPSHOT, 0, new long[0], new long[0], new long[] {id});
    changes.applied(
        new LogEntry(0, 0, 0, List.of(new Command.Commit(1, 1, request, new byte[] {1}))),
        List.of(new Answer.Decided(new Decision.Committed(commitTimestamp, 0))),
        List.of(),
        isLeading);
  }

  @Test
  void whenAWatchedCommitIsAppliedThenItsWatcherDoesNotWaitForTheLog() throws Exception {
    BlockingQueue<Long> wanted = new LinkedBlockingQueue<>();
    CompletableFuture<Long> leader = new CompletableFuture<>();
    try (Changes changes =
        new Changes(
            timestamp -> {
              wanted.add(timestamp);
              return leader;
            })) {
      CompletableFuture<Changes.Notification> before =
          changes.after(OptionalLong.of(0), Set.of(7L), 30_000);
      apply(changes, 10, 8, false); // Nobody waits for that.
      apply(changes, 12, 7, true); // A leader knows by itself.
      apply(changes, 14, 7, false);
      assertThat(wanted.poll(30, TimeUnit.SECONDS)).isEqualTo(14);
      assertThat(before).isNotDone();
      leader.complete(14L);
      assertThat(before.get(30, TimeUnit.SECONDS))
          .isEqualTo(new Changes.Notification(List.of(12L, 14L), 14, false));
      apply(changes, 16, 9, false); // Whoever comes now, waits for it.
      CompletableFuture<Changes.Notification> after =
          changes.after(OptionalLong.of(14), Set.of(9L), 30_000);
      assertThat(wanted.poll(30, TimeUnit.SECONDS)).isEqualTo(16);
      assertThat(after.get(30, TimeUnit.SECONDS).commits()).containsExactly(16L);
      assertThat(wanted).isEmpty();
    }
  }
}
