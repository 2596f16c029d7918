// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.io.DataInput;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * The one authority for timestamps and conflicts. It knows which snapshots a transaction may read,
 * and decides at its end whether it commits and when.
 *
 * <p>Pure and deterministic: the time is an argument and the same calls give the same answers, so a
 * replica that is given the same calls is a copy. All timestamps are microseconds since the epoch;
 * those issued are even and strictly increasing. Not thread-safe: the caller serialises.
 *
 * <p>Nothing is issued above what the caller has {@linkplain #reserve reserved}, and nothing is
 * reserved at first.
 *
 * <p>Numbers of sections and algorithms in this package refer to D. Gómez Ferro and M. Yabandeh, "A
 * Critique of Snapshot Isolation", EuroSys 2012.
 */
/*
 * Parts: Timestamps issues them; LastCommits knows when each row was last committed and
 * ConflictDetection looks there; PendingCommits holds stable back, but for those that are
 * InDoubtCommits; Outcomes makes a repeated request harmless. All
 * that has to outlive a process is in OracleState.
 *
 * Orders that always hold: stable <= last <= reservedUntil, and none of the three ever goes back.
 */
public final class StatusOracle {
  private static final Decision TOO_MANY_PENDING = new Decision.Refused(Refusal.TOO_MANY_PENDING);
  private static final Decision ID_TAKEN = new Decision.Refused(Refusal.ID_TAKEN);
  private static final Decision IN_DOUBT = new Decision.Refused(Refusal.IN_DOUBT);

  private final OracleState state;

  /** One that has issued and decided nothing. */
  public StatusOracle(OracleConfig config) {
    this(OracleState.ofNew(config));
  }

  private StatusOracle(OracleState state) {
    this.state = state;
  }

  /**
   * Decides a transaction that was not decided before, as far as the caller knows, who keeps a
   * record of requests that are repeated. If this very request is decided, its decision is the
   * answer, for as long as its outcome is kept.
   *
   * <p>Two requests are the same if session and sequence number are. Another one of an id that is
   * decided gets {@link Refusal#ID_TAKEN}: what it read was not checked and what it writes is not
   * in the commit. All of them get an abort that was {@linkplain #abort asked for}.
   *
   * <p>Whether the start timestamp was stable is for the caller to know: here it may be above a
   * commit that was applied although this oracle was not told yet.
   *
   * @param session who is to apply the commit
   * @param sequence which of the requests of that session this is
   * @param isLarge whether it is {@linkplain #inDoubt() in doubt} as soon as it is decided, since
   *     it takes long to apply. Refused if the set has no room for it
   * @throws IllegalArgumentException if the start timestamp is above all that was issued
   * @throws IllegalStateException if no timestamp is reserved; nothing is changed then
   */
  public Decision commit(
      CommitRequest request, long session, int sequence, long nowMicros, boolean isLarge) {
    Decision known = known(request.transactionId());
    if (known != null) {
      boolean isItsOwn = state.outcomes().isOf(request.transactionId(), session, sequence);
      return isItsOwn ? known : counted(ID_TAKEN);
    }
    state.requireIssued(request.startTimestamp(), "start timestamp");
    return decide(request, session, sequence, nowMicros, isLarge);
  }

  /** How a transaction was decided, or null if that isn't known. */
  private Decision known(UUID transactionId) {
    return transactionId == null ? null : state.outcomes().get(transactionId);
  }

  private Decision decide(
      CommitRequest request, long session, int sequence, long nowMicros, boolean isLarge) {
    ConflictDetection conflicts = new ConflictDetection(state.lastCommits(), state.outcomes());
    Optional<Conflict> conflict = conflicts.conflictOf(request);
    if (conflict.isPresent()) {
      return abort(request.transactionId(), conflict.get(), session, sequence);
    }
    if (isInDoubt(request)) {
      return counted(IN_DOUBT);
    }
    if (state.pending.isFull() || (isLarge && !state.pending.hasRoomForLarge(request.writes()))) {
      return counted(TOO_MANY_PENDING);
    }
    long commitTimestamp = state.timestamps.next(nowMicros);
    long applyAfter = applyAfter(request, conflicts);
    PendingCommit pending = new PendingCommit(request.transactionId(), commitTimestamp, session);
    if (isLarge) {
      state.pending.addLarge(pending, request.writes());
    } else {
      state.pending.add(pending, request.writes());
    }
    conflicts.recordCommit(request.writes(), commitTimestamp);
    Decision.Committed committed = new Decision.Committed(commitTimestamp, applyAfter);
    if (request.transactionId() != null) {
      state.outcomes().recordCommit(request.transactionId(), committed, session, sequence);
    }
    return counted(committed);
  }

  /** It would only wait for the commit in doubt, and be in doubt itself. */
  private boolean isInDoubt(CommitRequest request) {
    InDoubtCommits inDoubt = state.pending.inDoubt();
    return !inDoubt.isEmpty()
        && (inDoubt.find(request.overwrites(), Long.MAX_VALUE).isPresent()
            || inDoubt.find(request.reads(), Long.MAX_VALUE).isPresent());
  }

  /** While nothing is pending, everything overwritten is stable already. */
  private long applyAfter(CommitRequest request, ConflictDetection conflicts) {
    return state.pending.isEmpty() ? 0 : conflicts.applyAfter(request.overwrites(), state.stable());
  }

  private Decision abort(UUID transactionId, Conflict conflict, long session, int sequence) {
    if (transactionId != null) {
      state
          .outcomes()
          .recordAbort(transactionId, conflict, state.timestamps.last(), session, sequence);
    }
    return counted(new Decision.Aborted(conflict));
  }

  private Decision counted(Decision decision) {
    state.counters.count(decision);
    return decision;
  }

  /**
   * Aborts a transaction unless it is decided. A later request of it gets this outcome, for as long
   * as it is kept.
   *
   * @param transactionId not one that may have been decided so long ago that its outcome is
   *     forgotten; it would be called aborted, unless it is still pending
   * @return how it is decided now
   */
  public Outcome abort(UUID transactionId) {
    Decision known = known(transactionId);
    if (known != null) {
      return outcomeOf(known);
    }
    // A pending commit is decided, though that may be forgotten.
    PendingCommit committed = state.pending.of(transactionId);
    return committed == null
        ? outcomeOf(abort(transactionId, Conflict.REQUESTED, PendingCommit.NO_SESSION, 0))
        : new Outcome.Committed(committed.commitTimestamp());
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

  /**
   * Whether a transaction that is neither known nor pending may have been decided, and that is
   * forgotten.
   *
   * @param notBeforeMicros it was not decided at or below this, as its start timestamp
   */
  public boolean isPerhapsForgotten(UUID transactionId, long notBeforeMicros) {
    return notBeforeMicros < state.outcomes().forgottenUpTo()
        && known(transactionId) == null
        && state.pending.of(transactionId) == null;
  }

  /**
   * Tells that the writes of a commit are where every reader will find them.
   *
   * @throws IllegalArgumentException if no such commit is pending
   */
  public void applied(long commitTimestamp) {
    long before = stable();
    state.pending.remove(commitTimestamp);
    assert stable() >= before : "stable never goes back";
  }

  /** Whether a commit is decided but not yet applied. */
  public boolean isPending(long commitTimestamp) {
    return state.pending.contains(commitTimestamp);
  }

  /**
   * Lets {@link #stable()} pass a commit that takes long to apply. Does nothing if it is not
   * pending, or if the bounds of {@link InDoubtCommits} are reached. In all other respects it is
   * pending as before.
   */
  public void inDoubt(long commitTimestamp) {
    long before = stable();
    state.pending.inDoubt(commitTimestamp);
    assert stable() >= before : "stable never goes back";
  }

  /** The commits that {@link #stable()} has passed although they are not applied. */
  public InDoubtCommits inDoubt() {
    return state.pending.inDoubt();
  }

  /**
   * The commits at or below a timestamp that hold {@link #stable()} and can be in doubt, in the
   * order of their timestamps.
   */
  public List<Long> overdue(long upToMicros) {
    return state.pending.overdue(upToMicros);
  }

  /** The timestamps of the commits above one that are decided but not applied, in their order. */
  public List<Long> pendingAfter(long timestamp) {
    return state.pending.after(timestamp);
  }

  /** The newest snapshot that has nothing of a commit. */
  public static long newestBefore(long commitTimestamp) {
    return commitTimestamp - Timestamps.STEP;
  }

  /** All commits that are decided but not applied, in the order of their timestamps. */
  public List<PendingCommit> pendingCommits() {
    return state.pending.all();
  }

  /**
   * The largest T such that every commit at or below T is applied or {@linkplain #inDoubt() set
   * aside}, and no other will come.
   */
  public long stable() {
    return state.stable();
  }

  /** How a transaction was decided, if it was and that is still known. */
  public Optional<Outcome> outcome(UUID transactionId) {
    return Optional.ofNullable(known(transactionId)).map(StatusOracle::outcomeOf);
  }

  /** The largest timestamp that was issued to anyone. */
  public long lastIssued() {
    return state.timestamps.last();
  }

  /**
   * A fresh timestamp that no commit has.
   *
   * @throws IllegalStateException if none is reserved
   */
  public long next(long nowMicros) {
    return state.timestamps.next(nowMicros);
  }

  /**
   * Nothing at or below this will be issued to a commit any more.
   *
   * @throws IllegalStateException if it is above the reservation
   */
  public void advanceTo(long timestampMicros) {
    state.timestamps.advanceTo(timestampMicros);
  }

  /** The timestamp up to which others may be issued. */
  public long reservedUntil() {
    return state.timestamps.reservedUntil();
  }

  /** Allows timestamps up to and including this one. A reservation never shrinks. */
  public void reserve(long untilMicros) {
    state.timestamps.reserve(untilMicros);
  }

  public OracleStatistics statistics() {
    return state.statistics();
  }

  /**
   * Changes the bounds. If {@link OracleConfig#maxRows} changes, all that was committed so far
   * counts as forgotten. Outcomes beyond smaller bounds are forgotten, the oldest first; commits
   * beyond a smaller bound stay pending until they are applied.
   */
  public void reconfigure(OracleConfig config) {
    state.reconfigure(config);
  }

  /**
   * A copy of all that decides future answers, at the speed of memory. An oracle {@linkplain #load
   * loaded} from it answers as this one.
   */
  public SavedState snapshot() {
    return new SavedState(state.copy());
  }

  /**
   * Goes on where the oracle was that saved its state.
   *
   * @param config {@linkplain #reconfigure takes} the place of the one that was saved
   * @throws IOException if the state can't be read, or was saved in another format
   */
  public static StatusOracle load(OracleConfig config, DataInput in) throws IOException {
    StatusOracle oracle = new StatusOracle(OracleState.readFrom(in));
    oracle.reconfigure(config);
    return oracle;
  }
}
