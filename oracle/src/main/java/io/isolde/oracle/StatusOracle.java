// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static java.util.Objects.requireNonNull;

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
 * ConflictDetection decides with it; PendingCommits holds stable back; OpenTransactions holds the
 * low watermark back; Outcomes makes a repeated request harmless.
 *
 * Orders that always hold: lowWatermark <= stable <= last <= reservedUntil, and none of the four
 * ever goes back.
 *
 * An oracle knows nothing of what was committed at or below its first timestamp. It treats all that
 * as forgotten: Tmax and the horizon of the outcomes start there.
 */
public final class StatusOracle {
  private final long retentionMicros;
  private final Timestamps timestamps;
  private final LastCommits lastCommits;
  private final PendingCommits pending;
  private final OpenTransactions open = new OpenTransactions();
  private final Outcomes outcomes;
  private final ConflictDetection conflicts;
  private final Counters counters = new Counters();

  /** Only grows; {@code lowWatermark <= stable()}. */
  private long lowWatermark;

  /**
   * @param firstTimestampMicros nothing is issued at or below it
   */
  public StatusOracle(OracleConfig config, long firstTimestampMicros) {
    this.retentionMicros = config.retentionMicros();
    timestamps = new Timestamps(firstTimestampMicros);
    lastCommits = new LastCommits(config.maxRows(), timestamps.last());
    pending = new PendingCommits(config.maxPendingCommits());
    outcomes = new Outcomes(config, timestamps.last());
    conflicts = new ConflictDetection(lastCommits, outcomes);
    lowWatermark = timestamps.last();
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
    followClock(nowMicros);
    requireStable(snapshotMicros, "snapshot");
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
   * @throws IllegalArgumentException if the start timestamp is not a snapshot that was ever stable
   * @throws IllegalStateException if no timestamp is reserved; nothing is changed then
   */
  public Decision commit(CommitRequest request, long nowMicros) {
    UUID id = request.transactionId();
    Decision known = id == null ? null : outcomes.get(id);
    if (known != null) {
      return known;
    }
    requireStable(request.startTimestamp(), "start timestamp");
    Decision decision = decide(request, nowMicros);
    counters.count(decision);
    if (id != null && !(decision instanceof Decision.Refused)) {
      outcomes.record(id, decision, timestamps.last());
      open.remove(id);
      advanceLowWatermark();
    }
    return decision;
  }

  private Decision decide(CommitRequest request, long nowMicros) {
    if (isPerhapsDecided(request)) {
      return new Decision.Refused(Refusal.OUTCOME_FORGOTTEN);
    }
    Optional<Conflict> conflict = conflicts.conflictOf(request);
    if (conflict.isPresent()) {
      return new Decision.Aborted(conflict.get());
    }
    if (pending.isFull()) {
      return new Decision.Refused(Refusal.TOO_MANY_PENDING);
    }
    return commitAt(timestamps.next(nowMicros), request);
  }

  /** An open transaction is undecided, and one that started after all forgotten decisions too. */
  private boolean isPerhapsDecided(CommitRequest request) {
    return request.transactionId() != null
        && request.startTimestamp() < outcomes.forgottenUpTo()
        && !open.contains(request.transactionId());
  }

  private Decision commitAt(long commitTimestamp, CommitRequest request) {
    pending.add(commitTimestamp);
    long applyAfter = conflicts.applyAfter(request.overwrites(), stable());
    conflicts.recordCommit(request.writes(), commitTimestamp);
    return new Decision.Committed(commitTimestamp, applyAfter);
  }

  /**
   * Tells that the writes of a commit are where every reader will find them.
   *
   * @throws IllegalArgumentException if no such commit is pending
   */
  public void applied(long commitTimestamp) {
    long before = stable();
    pending.remove(commitTimestamp);
    assert stable() >= before : "stable never goes back";
    advanceLowWatermark();
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
   * The largest T such that every commit at or below T is applied, and no other will come. While no
   * commit is pending it follows the clock, as far as timestamps are reserved.
   */
  public long stable(long nowMicros) {
    followClock(nowMicros);
    advanceLowWatermark();
    return stable();
  }

  /** As {@link #stable(long)}, without a look at the clock. */
  public long stable() {
    return pending.isEmpty() ? timestamps.last() : pending.smallest() - Timestamps.STEP;
  }

  /**
   * No open transaction reads a snapshot below this, except readers of the past that began below
   * it: the smallest start timestamp of those open, or {@link #stable()}; at least {@link
   * OracleConfig#retentionMicros()} behind the newest timestamp. Never goes back.
   */
  public long lowWatermark() {
    return lowWatermark;
  }

  /** How a transaction was decided, if it was and that is still known. */
  public Optional<Outcome> outcome(UUID transactionId) {
    return Optional.ofNullable(outcomes.get(transactionId)).map(StatusOracle::outcomeOf);
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

  /** The largest timestamp that was issued to anyone. */
  public long lastIssued() {
    return timestamps.last();
  }

  /**
   * A fresh timestamp that no commit has.
   *
   * @throws IllegalStateException if none is reserved
   */
  public long next(long nowMicros) {
    long next = timestamps.next(nowMicros);
    advanceLowWatermark();
    return next;
  }

  /**
   * Nothing at or below this will be issued to a commit any more.
   *
   * @throws IllegalStateException if it is above the reservation
   */
  public void advanceTo(long timestampMicros) {
    timestamps.advanceTo(timestampMicros);
    advanceLowWatermark();
  }

  /** The timestamp up to which others may be issued. */
  public long reservedUntil() {
    return timestamps.reservedUntil();
  }

  /** Allows timestamps up to and including this one. A reservation never shrinks. */
  public void reserve(long untilMicros) {
    timestamps.reserve(untilMicros);
  }

  public OracleStatistics statistics() {
    return new OracleStatistics(
        counters.begun,
        counters.committed,
        counters.readWriteAborts,
        counters.writeWriteAborts,
        counters.forgottenAborts,
        counters.refused,
        pending.size(),
        open.size(),
        outcomes.size(),
        lastCommits.rows(),
        lastCommits.tmax(),
        stable(),
        lowWatermark,
        timestamps.last());
  }

  private void open(UUID transactionId, long start) {
    requireNonNull(transactionId);
    if (outcomes.get(transactionId) != null) {
      throw new IllegalArgumentException(
          "Transaction " + transactionId + " is decided, so it can't begin again.");
    }
    open.add(transactionId, start);
    counters.begun++;
    advanceLowWatermark();
  }

  private void requireStable(long timestamp, String what) {
    if (timestamp < 0 || timestamp > stable()) {
      throw new IllegalArgumentException(
          "The " + what + " " + timestamp + " is not between 0 and " + stable() + ", the newest.");
    }
  }

  private void followClock(long nowMicros) {
    if (pending.isEmpty()) {
      timestamps.follow(nowMicros);
    }
  }

  private void advanceLowWatermark() {
    long retained = timestamps.last() - retentionMicros;
    lowWatermark = Math.max(lowWatermark, Math.min(open.oldestStart(stable()), retained));
    assert lowWatermark <= stable() && stable() <= timestamps.last();
  }

  /** What {@link OracleStatistics} counts. */
  private static final class Counters {
    private long begun;
    private long committed;
    private long readWriteAborts;
    private long writeWriteAborts;
    private long forgottenAborts;
    private long refused;

    private void count(Decision decision) {
      if (decision instanceof Decision.Committed) {
        committed++;
      } else if (decision instanceof Decision.Aborted aborted) {
        switch (aborted.conflict().kind()) {
          case READ_WRITE -> readWriteAborts++;
          case WRITE_WRITE -> writeWriteAborts++;
          case FORGOTTEN -> forgottenAborts++;
        }
      } else {
        refused++;
      }
    }
  }
}
