// SPDX-License-Identifier: Apache-2.0
package io.isolde.restart;

import io.isolde.oracle.group.LostWrites;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Gets what a node may have lost, and applies it again, in the order of the commits. */
final class LostCommits {
  /** Below all timestamps. */
  private static final long BEGINNING = -1;

  /** Whom to ask. */
  interface Source {
    /** Issues a timestamp above all that is decided. */
    CompletableFuture<Long> issue();

    /** Answers with the next page. */
    CompletableFuture<LostWrites.Page> ask(LostWrites.Question question);
  }

  /** Applies a commit to this node, as far as it has a part in it. */
  interface Target {
    /** Applies the commit, which may be here already. */
    void apply(LostWrites.Commit commit);
  }

  /**
   * What came of it.
   *
   * @param commits that were given
   * @param isWhole false if the oracle's log had no longer all that may be lost
   */
  record Result(long commits, boolean isWhole) {}

  private LostCommits() {}

  /**
   * Returns when all is applied that the log has.
   *
   * @throws ExecutionException if somebody did not answer; it may be tried again
   */
  static Result recover(DurableCheckpoint checkpoint, Source source, Target target)
      throws InterruptedException, ExecutionException {
    LostWrites.Question question =
        new LostWrites.Question(
            BEGINNING, checkpoint.upTo(), checkpoint.unsafe(), source.issue().get());
    long commits = 0;
    boolean isWhole = true;
    while (true) {
      LostWrites.Page page = source.ask(question).get();
      page.commits().forEach(target::apply);
      commits += page.commits().size();
      isWhole &= page.isWhole();
      if (page.isLast()) {
        return new Result(commits, isWhole);
      }
      question = question.after(page);
    }
  }
}
