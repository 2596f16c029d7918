// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.Decision;
import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.StatusOracle;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * What a leader knows beyond the log, for one term: which start timestamps it has given out, which
 * entries are under way, and which commits are applied though the log does not say so yet. With it,
 * a transaction begins without an entry in the log, and a commit is visible as soon as it is
 * applied.
 *
 * <p>A start timestamp T promises that every commit at or below T is applied, or in doubt, and that
 * no other will come. Five rules keep it:
 *
 * <ul>
 *   <li>An entry may be under way, or a commit neither applied nor in doubt. Then T is what is
 *       {@linkplain #stable() stable}, or what was given out before. Only otherwise does T follow
 *       the clock.
 *   <li>Each entry carries the largest T given out, and commits nothing at or below it.
 *   <li>T is at most what an applied entry has reserved, and the next leader commits above that.
 *   <li>None is given before the first entry of this leader is applied, and none once that of
 *       another is: what is reserved then is the other's.
 *   <li>An earlier leader may have been told that commits are applied of which the log says
 *       nothing, and have given out their timestamps. So none is given before all that were decided
 *       before this leader are known to be applied, or in doubt: it {@linkplain #isCaughtUp
 *       settles}.
 * </ul>
 *
 * <p>The caller makes sure that it leads after it was asked and before it calls {@link
 * #startTimestamp}; if the call comes late, T is only older than it could be. It serialises all
 * calls with those of the replica.
 */
public final class Leadership {
  /** A leader's life. It takes these steps in their order, and may end at each. */
  public enum Phase {
    /** Its first entry is not applied: it answers nobody. */
    STARTING,

    /** It decides, but no transaction begins: an earlier leader may have known more. */
    CATCHING_UP,

    /** Transactions begin. */
    CAUGHT_UP,

    /** The first entry of another leader is applied, or the replica has got another state. */
    OVER
  }

  private static final long EVEN = ~1L;

  private static final long NOT_YET = -1;

  /** Of which an entry tells that they are applied; a few bytes each. The next one tells more. */
  private static final int MAX_UNREPORTED = 2_048;

  private final OracleReplica replica;
  private final long reservationMicros;

  /** Those that this leader made and that may still be applied; by identity. */
  private final Set<LogEntry> underWay = Collections.newSetFromMap(new IdentityHashMap<>());

  private LogEntry first;

  /** Which one of the replica's {@link OracleReplica#leaders} this is. */
  private long number = NOT_YET;

  private boolean isOver;

  /** Only grows; at most what is reserved in the replica. */
  private long floor;

  /** The commits that are neither in doubt nor known to be applied, up to {@code seen}. */
  private final NavigableSet<Long> holding = new TreeSet<>();

  private long seen = NOT_YET;

  /** Those that are applied and in no entry that says so; a subset of what is pending. */
  private final Set<Long> unreported = new LinkedHashSet<>();

  /** At or above every start timestamp of the leaders before, once the first entry is applied. */
  private long caughtUpAt = Long.MAX_VALUE;

  /**
   * @param reservationMicros how far ahead of the clock start timestamps are reserved; see {@code
   *     timestamp_reservation}
   */
  public Leadership(OracleReplica replica, long reservationMicros) {
    if (reservationMicros < 1) {
      throw new IllegalArgumentException(
          "The reservation is " + reservationMicros + " microseconds, but must be positive.");
    }
    this.replica = replica;
    this.reservationMicros = reservationMicros;
  }

  /**
   * The first entry of the term.
   *
   * @param config the bounds from now on
   */
  public LogEntry firstEntry(OracleConfig config, long nowMicros) {
    if (first != null) {
      throw new IllegalStateException("A leader has one first entry.");
    }
    floor = replica.stable();
    first = make(List.of(new Command.Lead(config)), nowMicros);
    return first;
  }

  /**
   * The next entry for the log: that commits are applied of which it does not know it yet, and then
   * these commands. It is under way until {@link #entryApplied} or {@link #entryDropped}; for the
   * rest of the term if it is never known what became of it.
   *
   * @throws IllegalStateException unless this leader {@linkplain #isServing() serves}
   */
  public LogEntry entry(List<Command> commands, long nowMicros) {
    requireServing();
    List<Command> all =
        new ArrayList<>(commands.size() + Math.min(unreported.size(), MAX_UNREPORTED));
    Iterator<Long> some = unreported.iterator();
    while (some.hasNext() && all.size() < MAX_UNREPORTED) {
      all.add(new Command.Applied(some.next()));
      some.remove();
    }
    all.addAll(commands);
    return make(all, nowMicros);
  }

  private LogEntry make(List<Command> commands, long nowMicros) {
    LogEntry entry =
        new LogEntry(nowMicros, floor, Math.max(nowMicros + reservationMicros, floor), commands);
    underWay.add(entry);
    return entry;
  }

  /** An entry was applied to the replica. Does nothing if this leader did not make it. */
  @SuppressWarnings("ReferenceEquality") // another leader's may be equal
  public void entryApplied(LogEntry entry) {
    underWay.remove(entry);
    if (entry == first) {
      number = replica.leaders();
      caughtUpAt = replica.last();
      holding.addAll(replica.pendingAfter(NOT_YET));
      holding.removeAll(replica.inDoubt().commits().keySet());
      seen = replica.last();
    } else if (isServing()) {
      follow(entry.commands());
    }
  }

  private void follow(List<Command> commands) {
    holding.addAll(replica.pendingAfter(seen));
    seen = replica.last();
    for (Command command : commands) {
      if (command instanceof Command.Applied applied) {
        holding.remove(applied.commitTimestamp());
        unreported.remove(applied.commitTimestamp());
      }
    }
    if (!replica.inDoubt().isEmpty()) {
      holding.removeAll(replica.inDoubt().commits().keySet());
    }
    assert holding.isEmpty() || replica.isPending(holding.first()) : "only what is pending holds";
  }

  /** An entry will not be applied, for sure. One that may be applied must not be told here. */
  public void entryDropped(LogEntry entry) {
    if (underWay.remove(entry)) {
      for (Command command : entry.commands()) {
        if (command instanceof Command.Applied applied) {
          applied(List.of(applied.commitTimestamp()));
        }
      }
    }
  }

  /**
   * The writes of commits are where every reader will find them. That counts at once; the log
   * learns it with the next entry, and a leader that comes before that has to be told again.
   *
   * @return those of which the log does not know it yet
   */
  public List<Long> applied(Collection<Long> commitTimestamps) {
    List<Long> unlogged = new ArrayList<>();
    for (long commit : commitTimestamps) {
      if (replica.isPending(commit)) {
        holding.remove(commit);
        unreported.add(commit);
        unlogged.add(commit);
      } else if (commit > replica.last()) {
        unlogged.add(commit); // Another leader's, of which this one has not heard yet.
      }
    }
    return unlogged;
  }

  /** What the log should learn soon, if no other entry is made. */
  public Optional<Command> unreported() {
    return underWay.isEmpty()
        ? unreported.stream().findFirst().map(Command.Applied::new)
        : Optional.empty();
  }

  /** Whether a commit holds start timestamps back. */
  public boolean isHolding(long commitTimestamp) {
    return holding.contains(commitTimestamp);
  }

  /**
   * Whether the writes of a commit may be applied now, as far as the leader knows without asking:
   * they are not known to be applied, and all that they may replace is. A large commit was in doubt
   * when this one was decided, which so replaces nothing of it.
   */
  public boolean mayApply(Decision.Committed commit) {
    return isServing()
        && isHolding(commit.commitTimestamp())
        && stable() >= commit.applyAfter()
        && replica.inDoubt().isOnlyLarge();
  }

  /** Whether this leader or one before may have given out a start timestamp. */
  public boolean isStart(long timestamp, long nowMicros) {
    return timestamp >= 0 && (timestamp <= caughtUpAt || timestamp <= startTimestamp(nowMicros));
  }

  /**
   * The largest timestamp such that every commit at or below it is applied, or in doubt, and no
   * other will come; see {@link StatusOracle#stable()}. Before {@link #isCaughtUp} an earlier
   * leader may have known of a larger one.
   */
  public long stable() {
    requireServing();
    return holding.isEmpty() ? replica.last() : StatusOracle.newestBefore(holding.first());
  }

  /** Where this leader is in its life. */
  public Phase phase() {
    if (isServing()) {
      return stable() >= caughtUpAt ? Phase.CAUGHT_UP : Phase.CATCHING_UP;
    }
    return number == NOT_YET && !isOver ? Phase.STARTING : Phase.OVER;
  }

  /** Whether nothing that an earlier leader knew can be missing any more. */
  public boolean isCaughtUp() {
    return phase() == Phase.CAUGHT_UP;
  }

  /** The replica has got another state, in the middle of the term. */
  public void end() {
    isOver = true;
  }

  /**
   * Up to which commits must be applied, or in doubt, before it {@linkplain #isCaughtUp has caught
   * up}.
   */
  public long caughtUpAt() {
    return caughtUpAt;
  }

  /** Whether the first entry is applied, and that of no later leader. */
  public boolean isServing() {
    return !isOver && number == replica.leaders();
  }

  /**
   * The newest snapshot: every commit at or below it is applied, or in the {@linkplain
   * OracleReplica#inDoubt() set} that the replica has now, and no other will come. It is no
   * transaction's start before this leader {@linkplain #isCaughtUp has caught up}.
   *
   * @throws IllegalStateException unless this leader {@linkplain #isServing() serves}
   */
  public long startTimestamp(long nowMicros) {
    requireServing();
    long start = stable();
    if (underWay.isEmpty() && holding.isEmpty()) {
      start = Math.max(start, Math.min(nowMicros, replica.reservedUntil()) & EVEN);
    }
    floor = Math.max(floor, start);
    return floor;
  }

  private void requireServing() {
    if (!isServing()) {
      throw new IllegalStateException(
          "This leader does not serve: its first entry is not applied, or another one leads.");
    }
  }

  /** Whether start timestamps will soon stop following the clock if no entry is made. */
  public boolean needsReservation(long nowMicros) {
    return underWay.isEmpty() && nowMicros + reservationMicros / 2 > replica.reservedUntil();
  }

  /** How many entries are under way. */
  public int entriesUnderWay() {
    return underWay.size();
  }
}
