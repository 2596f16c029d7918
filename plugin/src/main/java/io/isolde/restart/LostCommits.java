// SPDX-License-Identifier: Apache-2.0
package io.isolde.restart;

import io.isolde.oracle.group.LostWrites;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** Gets what a node may have lost, and applies it again, in the order of the commits. */
final class LostCommits {
  /** Whom to ask. */
  interface Source {
    /** Issues a timestamp above all that is decided. */
    CompletableFuture<Long> issue();

    /** Answers with the next page. */
    CompletableFuture<LostWrites.Page> ask(LostWrites.Question question);
  }

  /** Applies a commit to this node, as far as it has a part in it. */
  interface Target {
    /**
     * Applies the commit, which may be here already.
     *
     * @param writeSet in parts
     */
    void apply(long commitTimestamp, List<byte[]> writeSet);
  }

  /** Puts parts together, and leaves out a commit that lacks one. Holds one commit at most. */
  private static final class Parts {
    private final Target target;
    private final List<byte[]> parts = new ArrayList<>();
    private long commitTimestamp;
    private long commits;

    /** Whether the last page has ended within a commit. */
    private boolean isCut;

    private boolean hasDropped;

    Parts(Target target) {
      this.target = target;
    }

    /** What has come of a commit is not all, and no more is there. */
    private void dropUnless(boolean goesOn) {
      if (!goesOn && !parts.isEmpty()) {
        parts.clear();
        hasDropped = true;
      }
    }

    void add(LostWrites.Page page) {
      if (isCut) {
        List<LostWrites.Commit> next = page.commits();
        dropUnless(!next.isEmpty() && next.get(0).commitTimestamp() == commitTimestamp);
      }
      page.commits().forEach(this::add);
      isCut = page.endParts() > 0;
    }

    private void add(LostWrites.Commit part) {
      if (part.commitTimestamp() != commitTimestamp) {
        end();
      }
      commitTimestamp = part.commitTimestamp();
      parts.add(part.bytes());
    }

    void end() {
      boolean isComplete = parts.stream().noneMatch(part -> part.length == 0);
      if (isComplete && !parts.isEmpty()) {
        target.apply(commitTimestamp, List.copyOf(parts));
        commits++;
      }
      parts.clear();
    }
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
        LostWrites.Question.first(checkpoint.upTo(), checkpoint.unsafe(), source.issue().get());
    Parts parts = new Parts(target);
    boolean isWhole = true;
    while (true) {
      LostWrites.Page page = source.ask(question).get();
      parts.add(page);
      isWhole &= page.isWhole();
      if (page.isLast()) {
        parts.end();
        return new Result(parts.commits, isWhole && !parts.hasDropped);
      }
      question = question.after(page);
    }
  }
}
