// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static java.util.Objects.requireNonNull;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * The one authority for timestamps and conflicts. It gives each transaction a start timestamp,
 * which is the snapshot that it reads, and decides at its end whether it commits and when.
 *
 * <p>Pure and deterministic: the time is an argument and the same calls give the same answers, so a
 * replica that is given the same calls is a copy. All timestamps are microseconds since the epoch;
 * those issued are even and strictly increasing. Not thread-safe: the caller serialises.
 *
 * <p>Nothing is issued above what the caller has {@linkplain #reserve reserved}, and nothing is
 * reserved at first. A caller that keeps the reservation durably, and starts the next oracle at it,
 * never sees a timestamp twice.
 *
 * <p>Numbers of sections and algorithms in this package refer to D. Gómez Ferro and M. Yabandeh, "A
 * Critique of Snapshot Isolation", EuroSys 2012.
 */
/*
 * Parts: Timestamps issues them; LastCommits knows when each row was last committed and
 * ConflictDetection looks there; PendingCommits holds stable back, but for those that are
 * SetAsideCommits; OpenTransactions holds the low watermark back; Outcomes makes a repeated request
 * harmless. Decisions plays on all of them. What has to outlive a process is in OracleState.
 *
 * Orders that always hold: lowWatermark <= stable <= last <= reservedUntil, and none of the four
 * ever goes back.
 *
 * An oracle knows nothing of what was committed at or below its first timestamp. It treats all that
 * as forgotten: Tmax and the horizon of the outcomes start there.
 */
public final class StatusOracle {
  private final OracleState state;
  private final Decisions decisions;
  private final OpenTransactions open = new OpenTransactions();

  /**
   * @param firstTimestampMicros nothing is issued at or below it
   */
  public StatusOracle(OracleConfig config, long firstTimestampMicros) {
    this(OracleState.ofNew(config, firstTimestampMicros));
  }

  private StatusOracle(OracleState state) {
    this.state = state;
    this.decisions = new Decisions(state);
  }

  /**
   * Begins a transaction that reads the newest snapshot, and holds the low watermark at it until
   * the transaction is decided or ended. Beginning an open transaction again changes nothing.
   *
   * @return the start timestamp: {@link #stable(long)}, or what it was the first time
   * @throws IllegalArgumentException if the transaction is already decided
   * @throws IllegalStateException if too many are open
   */
  public long begin(UUID transactionId, long nowMicros) {
    OptionalLong known = open.startOf(transactionId);
    if (known.isPresent()) {
      return known.getAsLong();
    }
    long start = stable(nowMicros);
    open(transactionId, start);
    return start;
  }

  /**
   * Begins a transaction that reads an older snapshot. The low watermark does not go back for it,
   * so what it wants to read may be gone.
   *
   * @throws IllegalArgumentException if the snapshot is above {@link #stable(long)}, or the
   *     transaction is already decided, or open at another snapshot
   * @throws IllegalStateException if too many are open
   */
  public void beginAt(UUID transactionId, long snapshotMicros, long nowMicros) {
    state.followClock(nowMicros);
    state.requireStable(snapshotMicros, "snapshot");
    OptionalLong known = open.startOf(transactionId);
    if (known.isEmpty()) {
      open(transactionId, snapshotMicros);
    } else if (known.getAsLong() != snapshotMicros) {
      throw new IllegalArgumentException(
          "Transaction " + transactionId + " is open at " + known.getAsLong() + " already.");
    }
  }

  /**
   * Decides a transaction, which need not have begun. The same transaction gets the same decision
   * again for as long as its outcome is kept.
   *
   * <p>Whether the start timestamp was stable is for the caller to know: here it may be above a
   * commit that was applied although this oracle was not told yet.
   *
   * @throws IllegalArgumentException if the start timestamp is above all that was issued
   * @throws IllegalStateException if no timestamp is reserved; nothing is changed then
   */
  public Decision commit(CommitRequest request, long nowMicros) {
    return commit(request, false, PendingCommit.NO_SESSION, nowMicros);
  }

  /**
   * As {@link #commit}, for a caller that knows that this transaction was not decided before, as it
   * keeps its own record of requests that are repeated. So it never gets {@link
   * Refusal#OUTCOME_FORGOTTEN}. An outcome that is known is still the answer.
   *
   * @param session who is to apply the commit; see {@link #pendingOf}
   */
  public Decision commitUndecided(CommitRequest request, long session, long nowMicros) {
    return commit(request, true, session, nowMicros);
  }

  private Decision commit(CommitRequest request, boolean isNew, long session, long nowMicros) {
    UUID id = request.transactionId();
    Decision known = decisions.known(id);
    if (known != null) {
      return known;
    }
    state.requireIssued(request.startTimestamp(), "start timestamp");
    // What is open is undecided.
    if (!isNew && decisions.isPerhapsForgotten(request) && !open.contains(id)) {
      return decisions.refuse(Refusal.OUTCOME_FORGOTTEN);
    }
    Decision decision = decisions.decide(request, session, nowMicros);
    if (id != null && !(decision instanceof Decision.Refused)) {
      end(id);
    }
    return decision;
  }

  /**
   * Aborts a transaction unless it is decided. A later request of it gets this outcome, for as long
   * as it is kept, and is {@linkplain Refusal#OUTCOME_FORGOTTEN refused} afterwards.
   *
   * @param transactionId not one that may have been decided so long ago that its outcome is
   *     forgotten; it would be called aborted, unless it is still pending
   * @return how it is decided now
   */
  public Outcome abort(UUID transactionId) {
    Outcome outcome = decisions.abortUndecided(transactionId);
    end(transactionId);
    return outcome;
  }

  /**
   * Whether a transaction that is neither known nor pending may have been decided, and that is
   * forgotten.
   *
   * @param notBeforeMicros it was not decided at or below this, as its start timestamp
   */
  public boolean isPerhapsForgotten(UUID transactionId, long notBeforeMicros) {
    return decisions.isPerhapsForgotten(transactionId, notBeforeMicros);
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
    advanceLowWatermark();
  }

  /** Whether a commit is decided but not yet applied. */
  public boolean isPending(long commitTimestamp) {
    return state.pending.contains(commitTimestamp);
  }

  /**
   * Lets {@link #stable()} pass a commit that takes long to apply. Does nothing if it is not
   * pending, or if the bounds of {@link SetAsideCommits} are reached. In all other respects it is
   * pending as before.
   */
  public void setAside(long commitTimestamp) {
    long before = stable();
    state.pending.setAside(commitTimestamp);
    assert stable() >= before : "stable never goes back";
    advanceLowWatermark();
  }

  /** The commits that {@link #stable()} has passed although they are not applied. */
  public SetAsideCommits setAside() {
    return state.pending.setAside();
  }

  /**
   * The commits at or below a timestamp that hold {@link #stable()} and can be set aside, in the
   * order of their timestamps.
   */
  public List<Long> toSetAside(long upToMicros) {
    return state.pending.toSetAside(upToMicros);
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

  /** The commits that a session is to apply and has not, in the order of their timestamps. */
  public List<PendingCommit> pendingOf(long session) {
    return state.pending.ofSession(session);
  }

  /**
   * Ends a transaction without a decision: a rollback, or the end of a read-only one. It has no
   * outcome. Does nothing if the transaction is not open.
   */
  public void end(UUID transactionId) {
    open.remove(transactionId);
    advanceLowWatermark();
  }

  /**
   * The largest T such that every commit at or below T is applied or {@linkplain #setAside() set
   * aside}, and no other will come. While no other commit is pending it follows the clock, as far
   * as timestamps are reserved.
   */
  public long stable(long nowMicros) {
    state.followClock(nowMicros);
    advanceLowWatermark();
    return stable();
  }

  /** As {@link #stable(long)}, without a look at the clock. */
  public long stable() {
    return state.stable();
  }

  /**
   * No open transaction reads a snapshot below this, except readers of the past that began below
   * it: the smallest start timestamp of those open, or {@link #stable()}; at least {@link
   * OracleConfig#retentionMicros()} behind the newest timestamp. Never goes back.
   */
  public long lowWatermark() {
    return state.lowWatermark();
  }

  /** How a transaction was decided, if it was and that is still known. */
  public Optional<Outcome> outcome(UUID transactionId) {
    return decisions.outcome(transactionId);
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
    long next = state.timestamps.next(nowMicros);
    advanceLowWatermark();
    return next;
  }

  /**
   * Nothing at or below this will be issued to a commit any more.
   *
   * @throws IllegalStateException if it is above the reservation
   */
  public void advanceTo(long timestampMicros) {
    state.timestamps.advanceTo(timestampMicros);
    advanceLowWatermark();
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
    return state.statistics(open.size());
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
   * A copy of all that decides future answers, at the speed of memory. Open transactions are not
   * part of it: they belong to this process. An oracle {@linkplain #load loaded} from it answers as
   * this one would if it had {@linkplain #end ended} them all.
   */
  public SavedState snapshot() {
    return new SavedState(state.copy());
  }

  /** Writes what {@link #snapshot()} copies. */
  public void save(DataOutput out) throws IOException {
    state.writeTo(out);
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

  private void open(UUID transactionId, long start) {
    requireNonNull(transactionId);
    if (decisions.known(transactionId) != null) {
      throw new IllegalArgumentException(
          "Transaction " + transactionId + " is decided, so it can't begin again.");
    }
    open.add(transactionId, start);
    state.counters.begun++;
    advanceLowWatermark();
  }

  private void advanceLowWatermark() {
    state.advanceLowWatermark(open.oldestStart(stable()));
  }
}
