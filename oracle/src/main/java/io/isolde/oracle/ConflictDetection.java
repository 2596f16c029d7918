// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.util.Optional;

/**
 * Algorithms 1 to 3 of "A Critique of Snapshot Isolation", over the bounded {@link LastCommits}.
 */
final class ConflictDetection {
  private final LastCommits lastCommits;
  private final Outcomes outcomes;

  ConflictDetection(LastCommits lastCommits, Outcomes outcomes) {
    this.lastCommits = lastCommits;
    this.outcomes = outcomes;
  }

  /** Why a transaction must abort; empty if it may commit. */
  Optional<Conflict> conflictOf(CommitRequest request) {
    lastCommits.fetch(request.reads());
    lastCommits.fetch(request.writes());
    Optional<Conflict> ofReads =
        conflictIn(request.reads(), request.startTimestamp(), Conflict.Kind.READ_WRITE);
    return ofReads.isPresent() || request.level() == IsolationLevel.SERIALIZABLE
        ? ofReads
        : conflictIn(request.overwrites(), request.startTimestamp(), Conflict.Kind.WRITE_WRITE);
  }

  /** Lines 1 to 11 of Algorithm 3, with a Tmax for each id. */
  private Optional<Conflict> conflictIn(long[] ids, long start, Conflict.Kind kind) {
    for (long id : ids) {
      if (lastCommits.atMost(id) > start) {
        return Optional.of(explain(ids, start, kind));
      }
    }
    return Optional.empty();
  }

  /** An abort is reported as a false one only if no real conflict is known. */
  private Conflict explain(long[] ids, long start, Conflict.Kind kind) {
    Conflict forgotten = null;
    for (long id : ids) {
      long committedAt = lastCommits.get(id);
      if (committedAt > start) {
        return new Conflict(kind, id, committedAt, outcomes.committer(committedAt));
      }
      long atMost = lastCommits.atMost(id);
      if (atMost > start && forgotten == null) {
        forgotten = new Conflict(Conflict.Kind.FORGOTTEN, id, atMost, null);
      }
    }
    assert forgotten != null : "there is something to explain";
    return forgotten;
  }

  /**
   * The largest commit timestamp above {@code stable} of what is overwritten, or 0. What is
   * forgotten counts as committed at its upper bound.
   */
  long applyAfter(long[] overwrites, long stable) {
    long applyAfter = 0;
    for (long id : overwrites) {
      applyAfter = Math.max(applyAfter, lastCommits.atMost(id));
    }
    return applyAfter > stable ? applyAfter : 0;
  }

  void recordCommit(long[] writes, long commitTimestamp) {
    for (long id : writes) {
      lastCommits.put(id, commitTimestamp);
    }
  }
}
