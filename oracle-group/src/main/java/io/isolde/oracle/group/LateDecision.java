// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.Conflict;
import io.isolde.oracle.Decision;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.group.OracleRequestException.Reason;
import io.isolde.oracle.replica.Answer;
import java.util.concurrent.CompletionException;

/** What became of a commit whose answer was lost, as the request to abort it tells. */
final class LateDecision {
  private LateDecision() {}

  /**
   * The decision that was made before; if there was none, there never will be one.
   *
   * @throws CompletionException with FENCED in the latter case
   */
  static Decision of(Answer answer) {
    if (!(answer instanceof Answer.Ended ended)) {
      throw new OracleRequestException(
          Reason.TIMED_OUT, "The transaction may have been decided, but that is forgotten.");
    }
    Outcome outcome = ended.outcome();
    if (outcome instanceof Outcome.Committed committed) {
      // For what it must wait was in the answer that was lost: all that came before is enough.
      long commitTimestamp = committed.commitTimestamp();
      return new Decision.Committed(commitTimestamp, commitTimestamp - 2);
    }
    Conflict conflict = ((Outcome.Aborted) outcome).conflict();
    if (conflict.kind() == Conflict.Kind.REQUESTED) {
      throw new CompletionException(wasFenced());
    }
    return new Decision.Aborted(conflict);
  }

  static OracleRequestException wasFenced() {
    return new OracleRequestException(
        Reason.FENCED, "This coordinator was silent for its lease, so it may not commit this.");
  }
}
