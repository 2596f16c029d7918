// SPDX-License-Identifier: Apache-2.0
package io.isolde.restart;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.oracle.group.LostWrites;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class LostCommitsTest {
  private static final long ISSUED = 100;
  private static final DurableCheckpoint CHECKPOINT = new DurableCheckpoint(false, 10, List.of(4L));

  private final Deque<LostWrites.Page> pages = new ArrayDeque<>();
  private final List<LostWrites.Question> questions = new ArrayList<>();
  private final List<Long> applied = new ArrayList<>();

  private final LostCommits.Source source =
      new LostCommits.Source() {
        @Override
        public CompletableFuture<Long> issue() {
          return CompletableFuture.completedFuture(ISSUED);
        }

        @Override
        public CompletableFuture<LostWrites.Page> ask(LostWrites.Question question) {
          questions.add(question);
          return pages.isEmpty()
              ? CompletableFuture.failedFuture(new IllegalStateException("nobody leads"))
              : CompletableFuture.completedFuture(pages.remove());
        }
      };

  private void page(boolean isWhole, boolean isLast, Long... commits) {
    long end = commits[commits.length - 1];
    pages.add(
        new LostWrites.Page(
            isWhole,
            isLast,
            end,
            Arrays.stream(commits).map(at -> new LostWrites.Commit(at, new byte[1])).toList()));
  }

  private LostCommits.Result recover() throws Exception {
    return LostCommits.recover(CHECKPOINT, source, commit -> applied.add(commit.commitTimestamp()));
  }

  @Test
  void whenThereAreSeveralPagesThenAllAreAppliedInTheirOrder() throws Exception {
    page(true, false, 4L, 12L);
    page(true, true, 14L, 16L);
    assertThat(recover()).isEqualTo(new LostCommits.Result(4, true));
    assertThat(applied).containsExactly(4L, 12L, 14L, 16L);
    assertThat(questions)
        .containsExactly(
            new LostWrites.Question(-1, 10, List.of(4L), ISSUED),
            new LostWrites.Question(12, 10, List.of(4L), ISSUED));
  }

  @Test
  void whenAPageLacksSomethingThenTheResultSaysSo() throws Exception {
    page(false, false, 12L);
    page(true, true, 14L);
    assertThat(recover()).isEqualTo(new LostCommits.Result(2, false));
  }

  @Test
  void whenNobodyAnswersThenItFailsAndNothingIsOver() {
    page(true, false, 12L);
    assertThatThrownBy(this::recover).isInstanceOf(ExecutionException.class);
  }
}
