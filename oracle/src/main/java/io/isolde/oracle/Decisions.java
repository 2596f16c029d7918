// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.util.Optional;
import java.util.UUID;

/** Decides transactions, each once, and remembers how. */
final class Decisions {
  private static final Decision TOO_MANY_PENDING = new Decision.Refused(Refusal.TOO_MANY_PENDING);
  private static final Decision IN_DOUBT = new Decision.Refused(Refusal.IN_DOUBT);

  private final OracleState state;

  Decisions(OracleState state) {
    this.state = state;
  }

  /** How a transaction was decided, or null if that isn't known. */
  Decision known(UUID transactionId) {
    return transactionId == null ? null : state.outcomes().get(transactionId);
  }

  /** Whether the request may repeat one whose decision is forgotten. */
  boolean isPerhapsForgotten(CommitRequest request) {
    return request.transactionId() != null
        && request.startTimestamp() < state.outcomes().forgottenUpTo();
  }

  /** Whether a transaction may have been decided above a timestamp, and that is forgotten. */
  boolean isPerhapsForgotten(UUID transactionId, long notBefore) {
    return notBefore < state.outcomes().forgottenUpTo()
        && known(transactionId) == null
        && state.pending.of(transactionId) == null;
  }

  Decision refuse(Refusal reason) {
    return counted(new Decision.Refused(reason));
  }

  /** Decides a transaction that was not decided before. */
  Decision decide(CommitRequest request, long session, long nowMicros) {
    ConflictDetection conflicts = new ConflictDetection(state.lastCommits(), state.outcomes());
    Optional<Conflict> conflict = conflicts.conflictOf(request);
    if (conflict.isPresent()) {
      return abort(request.transactionId(), conflict.get());
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
    return commit(request.transactionId(), new Decision.Committed(commitTimestamp, applyAfter));
  }

  /** It would only wait for the commit that is set aside, and be in doubt itself. */
  private boolean isInDoubt(CommitRequest request) {
    SetAsideCommits setAside = state.pending.setAside();
    return !setAside.isEmpty()
        && (setAside.find(request.overwrites(), Long.MAX_VALUE).isPresent()
            || (request.level() == IsolationLevel.SERIALIZABLE
                && setAside.find(request.reads(), Long.MAX_VALUE).isPresent()));
  }

  /** While nothing is pending, everything overwritten is stable already. */
  private long applyAfter(CommitRequest request, ConflictDetection conflicts) {
    return state.pending.isEmpty() ? 0 : conflicts.applyAfter(request.overwrites(), state.stable());
  }

  private Decision commit(UUID transactionId, Decision.Committed committed) {
    if (transactionId != null) {
      state.outcomes().recordCommit(transactionId, committed);
    }
    return counted(committed);
  }

  private Decision abort(UUID transactionId, Conflict conflict) {
    if (transactionId != null) {
      state.outcomes().recordAbort(transactionId, conflict, state.timestamps.last());
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
        ? outcomeOf(abort(transactionId, Conflict.REQUESTED))
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
