// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.Conflict;
import io.isolde.oracle.Decision;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.replica.Answer;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import java.util.concurrent.CompletionException;

/**
 * What became of a commit whose answer was lost, and whose session is closed: first its transaction
 * is aborted unless it is decided, then the same commit is asked for again. The decision may be one
 * of another request of the same transaction id.
 */
final class LateDecision {
  private LateDecision() {}

  /**
   * Whether the commit may have been decided.
   *
   * @param answer to the request to abort its transaction
   * @throws GroupFailure with TIMED_OUT_UNKNOWN if nobody knows any more
   */
  static boolean isPossible(Answer answer) {
    if (!(answer instanceof Answer.Ended ended)) {
      throw new GroupFailure(
          Reason.TIMED_OUT_UNKNOWN,
          "The transaction may have been decided, but that is forgotten.");
    }
    return !(ended.outcome() instanceof Outcome.Aborted aborted
        && aborted.conflict().kind() == Conflict.Kind.REQUESTED);
  }

  /**
   * The decision of this very commit.
   *
   * @param answer to the commit that was asked for again
   * @throws CompletionException with FENCED if there is none: there never will be one
   */
  static Decision of(Answer answer) {
    if (answer instanceof Answer.Decided decided) {
      return decided.decision();
    }
    throw new CompletionException(wasFenced());
  }

  static GroupFailure wasFenced() {
    return new GroupFailure(
        Reason.FENCED, "This coordinator was silent for its lease, so it may not commit this.");
  }
}
