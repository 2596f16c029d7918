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
  private final List<List<Integer>> parts = new ArrayList<>();

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
            0,
            Arrays.stream(commits).map(at -> new LostWrites.Commit(at, new byte[1])).toList()));
  }

  private LostCommits.Result recover() throws Exception {
    return LostCommits.recover(
        CHECKPOINT,
        source,
        (commitTimestamp, writeSet) -> {
          applied.add(commitTimestamp);
          parts.add(writeSet.stream().map(part -> (int) part[0]).toList());
        });
  }

  @Test
  void whenThereAreSeveralPagesThenAllAreAppliedInTheirOrder() throws Exception {
    page(true, false, 4L, 12L);
    page(true, true, 14L, 16L);
    assertThat(recover()).isEqualTo(new LostCommits.Result(4, true));
    assertThat(applied).containsExactly(4L, 12L, 14L, 16L);
    assertThat(questions)
        .containsExactly(
            new LostWrites.Question(-1, 0, 0, 10, List.of(4L), ISSUED),
            new LostWrites.Question(12, 0, 0, 10, List.of(4L), ISSUED));
  }

  private static LostWrites.Commit part(long commit, int... bytes) {
    byte[] part = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      part[i] = (byte) bytes[i];
    }
    return new LostWrites.Commit(commit, part);
  }

  @Test
  void whenACommitIsInPartsOverPagesThenItIsAppliedOnceAndWhole() throws Exception {
    pages.add(
        new LostWrites.Page(true, false, 4, 2, List.of(part(4, 1), part(12, 2), part(12, 3))));
    pages.add(new LostWrites.Page(true, false, 12, 0, List.of(part(12, 4))));
    pages.add(new LostWrites.Page(true, true, 14, 0, List.of(part(14, 5), part(14, 6))));
    assertThat(recover()).isEqualTo(new LostCommits.Result(3, true));
    assertThat(applied).containsExactly(4L, 12L, 14L);
    assertThat(parts).containsExactly(List.of(1), List.of(2, 3, 4), List.of(5, 6));
    assertThat(questions.get(1))
        .isEqualTo(new LostWrites.Question(4, 12, 2, 10, List.of(4L), ISSUED));
  }

  @Test
  void whenTheNextPageDoesNotGoOnWithACommitThenItsPartsAreNotTakenForAll() throws Exception {
    pages.add(new LostWrites.Page(true, false, 4, 1, List.of(part(4, 1), part(12, 2))));
    pages.add(new LostWrites.Page(true, true, 14, 0, List.of(part(14, 5))));
    assertThat(recover()).isEqualTo(new LostCommits.Result(2, false));
    assertThat(applied).containsExactly(4L, 14L);
  }

  @Test
  void whenAPartIsLostThenTheOthersAreNotTakenForTheCommit() throws Exception {
    pages.add(new LostWrites.Page(false, true, 14, 0, List.of(part(12, 2), part(12), part(14, 3))));
    assertThat(recover()).isEqualTo(new LostCommits.Result(1, false));
    assertThat(applied).containsExactly(14L);
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
