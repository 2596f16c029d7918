// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.util.Optional;
import java.util.UUID;

/** Decides transactions, each once, and remembers how. */
final class Decisions {
  private static final Decision TOO_MANY_PENDING = new Decision.Refused(Refusal.TOO_MANY_PENDING);
  private static final Decision ID_TAKEN = new Decision.Refused(Refusal.ID_TAKEN);
  private static final Decision IN_DOUBT = new Decision.Refused(Refusal.IN_DOUBT);

  private final OracleState state;

  Decisions(OracleState state) {
    this.state = state;
  }

  /** How a transaction was decided, or null if that isn't known. */
  Decision known(UUID transactionId) {
    return transactionId == null ? null : state.outcomes().get(transactionId);
  }

  /**
   * As {@link #known(UUID)}, for one request of a transaction: the decision of another request of
   * the same id is none of its own.
   */
  Decision known(UUID transactionId, long session, int sequence) {
    Decision known = known(transactionId);
    return known == null || state.outcomes().isOf(transactionId, session, sequence)
        ? known
        : counted(ID_TAKEN);
  }

  /** Whether a transaction may have been decided above a timestamp, and that is forgotten. */
  boolean isPerhapsForgotten(UUID transactionId, long notBefore) {
    return notBefore < state.outcomes().forgottenUpTo()
        && known(transactionId) == null
        && state.pending.of(transactionId) == null;
  }

  /** Decides a transaction that was not decided before. */
  Decision decide(CommitRequest request, long session, int sequence, long nowMicros) {
    ConflictDetection conflicts = new ConflictDetection(state.lastCommits(), state.outcomes());
    Optional<Conflict> conflict = conflicts.conflictOf(request);
    if (conflict.isPresent()) {
      return abort(request.transactionId(), conflict.get(), session, sequence);
    }
    if (isInDoubt(request)) {
      return counted(IN_DOUBT);
    }
    if (state.pending.isFull()) {
      return counted(TOO_MANY_PENDING);
    }
    long commitTimestamp = state.timestamps.next(nowMicros);
    long applyAfter = applyAfter(request, conflicts);
    state.pending.add(
        new PendingCommit(request.transactionId(), commitTimestamp, session), request.writes());
    conflicts.recordCommit(request.writes(), commitTimestamp);
    return commit(
        request.transactionId(),
        new Decision.Committed(commitTimestamp, applyAfter),
        session,
        sequence);
  }

  /** It would only wait for the commit in doubt, and be in doubt itself. */
  private boolean isInDoubt(CommitRequest request) {
    InDoubtCommits inDoubt = state.pending.inDoubt();
    return !inDoubt.isEmpty()
        && (inDoubt.find(request.overwrites(), Long.MAX_VALUE).isPresent()
            || (request.level() == IsolationLevel.SERIALIZABLE
                && inDoubt.find(request.reads(), Long.MAX_VALUE).isPresent()));
  }

  /** While nothing is pending, everything overwritten is stable already. */
  private long applyAfter(CommitRequest request, ConflictDetection conflicts) {
    return state.pending.isEmpty() ? 0 : conflicts.applyAfter(request.overwrites(), state.stable());
  }

  private Decision commit(
      UUID transactionId, Decision.Committed committed, long session, int sequence) {
    if (transactionId != null) {
      state.outcomes().recordCommit(transactionId, committed, session, sequence);
    }
    return counted(committed);
  }

  private Decision abort(UUID transactionId, Conflict conflict, long session, int sequence) {
    if (transactionId != null) {
      state
          .outcomes()
          .recordAbort(transactionId, conflict, state.timestamps.last(), session, sequence);
    }
    return counted(new Decision.Aborted(conflict));
  }

  /** Aborts a transaction unless it is decided. A pending commit is, though it may be forgotten. */
  Outcome abortUndecided(UUID transactionId) {
    Decision known = known(transactionId);
    if (known != null) {
      return outcomeOf(known);
    }
    PendingCommit committed = state.pending.of(transactionId);
    return committed == null
        ? outcomeOf(abort(transactionId, Conflict.REQUESTED, PendingCommit.NO_SESSION, 0))
        : new Outcome.Committed(committed.commitTimestamp());
  }

  Optional<Outcome> outcome(UUID transactionId) {
    return Optional.ofNullable(known(transactionId)).map(Decisions::outcomeOf);
  }

  private static Outcome outcomeOf(Decision decision) {
    if (decision instanceof Decision.Committed committed) {
      return new Outcome.Committed(committed.commitTimestamp());
    }
    if (decision instanceof Decision.Aborted aborted) {
      return new Outcome.Aborted(aborted.conflict());
    }
    throw new AssertionError("What was refused has no outcome.");
  }

  private Decision counted(Decision decision) {
    state.counters.count(decision);
    return decision;
  }
}
