// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.Decision;
import io.isolde.oracle.InDoubtCommits;
import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.PendingCommit;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.CoordinatorLeases;
import io.isolde.oracle.replica.Leadership;
import io.isolde.oracle.replica.LogEntry;
import io.isolde.oracle.replica.OracleReplica;
import io.isolde.oracle.replica.RecentChanges;
import io.isolde.oracle.replica.SavedReplica;
import io.isolde.oracle.replica.UnfinishedCommit;
import io.isolde.raft.group.PositionWaiters;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * This member's copy of the oracle behind a lock and, while the member leads, what only the leader
 * knows. Nobody is answered under the lock.
 */
final class ReplicaHost {
  private final ReentrantLock lock = new ReentrantLock();

  /** The leader may have caught up, or leads no more. */
  private final Condition caughtUp = lock.newCondition();

  private final OracleConfig config;
  private final long reservationMicros;
  private final long leaseMillis;
  private final long overdueMillis;
  private final int mostWaiters;
  private final Clock clock;
  private final Changes changes;

  private OracleReplica replica = new OracleReplica();

  /** Null while another member leads. */
  private LeaderState leader;

  private volatile boolean isServing;

  ReplicaHost(OracleGroupConfig config, Clock clock, Changes changes) {
    this.changes = changes;
    this.config = config.bounds();
    this.reservationMicros = config.reservationMicros();
    this.leaseMillis = config.leaseMillis();
    this.overdueMillis = config.overdueMillis();
    this.mostWaiters = config.maxQueued();
    this.clock = clock;
  }

  /**
   * This member leads from now on; returns the entry that must be applied before it serves. Empty
   * if that is known already. No entry of an earlier term may be on its way into the log: it would
   * lie behind the first one, and what it commits below a start timestamp of this term.
   */
  Optional<EntryMessage> lead(long term) {
    return locked(
        () -> {
          if (leader != null && leader.term == term) {
            return Optional.empty();
          }
          isServing = false;
          leader =
              new LeaderState(
                  term,
                  new Leadership(replica, reservationMicros),
                  new CoordinatorLeases(leaseMillis, replica.openSessions(), nowMillis()),
                  leaseMillis,
                  overdueMillis,
                  leader == null ? new PositionWaiters<>(mostWaiters) : leader.waiters,
                  nowMillis());
          return first();
        });
  }

  /** The first entry again, if the log has refused it: while a leader hands over, it does. */
  Optional<EntryMessage> leadAgain() {
    return locked(this::first);
  }

  private Optional<EntryMessage> first() {
    if (leader == null || !leader.isToBegin()) {
      return Optional.empty();
    }
    leader.isFirstUnderWay = true;
    if (leader.first == null) {
      leader.first = leader.leadership.firstEntry(config, nowMicros());
    }
    LogEntry first = leader.first;
    return Optional.of(
        new EntryMessage(
            first, List.of(new EntryMessage.Item(first.commands().get(0), null)), leader.term));
  }

  /** This member no longer leads; returns those who wait for something that it will not see. */
  List<Request> stepDown() {
    return locked(
        () -> {
          List<Request> waiting = leader == null ? List.of() : leader.waiters.all();
          leader = null;
          isServing = false;
          caughtUp.signalAll();
          return waiting;
        });
  }

  /** Whether this member leads and may answer. */
  boolean isServing() {
    return isServing;
  }

  /** The next entry for the log; empty if this member does not serve. */
  Optional<EntryMessage> entry(List<EntryMessage.Item> items) {
    return serving(
        leader -> {
          List<Command> commands = items.stream().map(EntryMessage.Item::command).toList();
          leader.hearOf(commands, nowMillis());
          LogEntry entry = leader.leadership.entry(commands, nowMicros());
          return new EntryMessage(entry, items, leader.term);
        });
  }

  /** An entry was refused by the log: it will not be applied. */
  void dropped(EntryMessage message) {
    locked(
        () -> {
          if (leader != null) {
            leader.leadership.entryDropped(message.entry());
            leader.isFirstUnderWay &= !message.isFirst() || message.term() != leader.term;
          }
          return null;
        });
  }

  /** Applies the next entry of the log: as this member made it, if it did. */
  AppliedEntry apply(LogEntry entry) {
    return locked(
        () -> {
          List<Answer> answers = replica.apply(entry);
          List<RecentChanges.Change> ofConfiguration = replica.configurationChanges();
          // Before anybody can see that they are stable.
          changes.applied(entry, answers, ofConfiguration, leader != null);
          if (leader == null) {
            return new AppliedEntry(answers, known(), List.of());
          }
          leader.leadership.entryApplied(entry);
          followSessions(entry);
          isServing = leader.isServing();
          caughtUp.signalAll();
          Stable stable = known();
          return new AppliedEntry(answers, stable, leader.waiters.reached(stable.timestamp()));
        });
  }

  /**
   * Commits are applied, as their coordinators say; empty if this member does not serve. Visible at
   * once; the log learns it with the next entry.
   */
  Optional<ReportResult> applied(Collection<Long> commitTimestamps) {
    return serving(
        leader -> {
          List<Long> unlogged = leader.leadership.applied(commitTimestamps);
          caughtUp.signalAll();
          Stable stable = known();
          boolean isInDoubt = unlogged.stream().anyMatch(replica.inDoubt()::contains);
          return new ReportResult(
              stable, leader.waiters.reached(stable.timestamp()), unlogged, isInDoubt);
        });
  }

  /** Whether this member leads, and the writes of a commit may be applied now. */
  boolean mayApply(Decision.Committed commit) {
    return serving(leader -> leader.leadership.mayApply(commit)).orElse(false);
  }

  private void followSessions(LogEntry entry) {
    boolean areChanged =
        entry.commands().stream()
            .anyMatch(
                command ->
                    command instanceof Command.OpenSession
                        || command instanceof Command.FenceSession);
    if (areChanged) {
      leader.followSessions(replica.openSessions(), nowMillis());
    }
  }

  /**
   * Waits until nothing can be missing that a leader before knew, or this member does not serve.
   *
   * @return false if that takes too long
   */
  boolean awaitCaughtUp(long timeoutMillis) throws InterruptedException {
    long leftNanos = TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    lock.lockInterruptibly();
    try {
      while (leader != null && leader.isServing() && !leader.leadership.isCaughtUp()) {
        if (leftNanos <= 0) {
          return false;
        }
        leftNanos = caughtUp.awaitNanos(leftNanos);
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** The newest snapshot, if it serves and has caught up. The caller has checked its lease. */
  Optional<Stable> startTimestamp() {
    return serving(leader -> leader.leadership.isCaughtUp() ? start(leader) : null);
  }

  /** What the log says is stable; empty if this member does not serve. */
  Optional<Stable> logged() {
    return serving(leader -> below(replica.stable()));
  }

  /** An entry that just says what is applied; empty if there is nothing to say. */
  Optional<EntryMessage> unreported() {
    return serving(leader -> leader.leadership.unreported().isPresent())
        .filter(isNewer -> isNewer)
        .flatMap(isNewer -> entry(List.of()));
  }

  /** The newest snapshot, and the epoch of what is in doubt below it: of the same moment. */
  private Stable start(LeaderState of) {
    return below(of.leadership.startTimestamp(nowMicros()));
  }

  /** What this member knows to be stable, without a look at the clock. */
  private Stable known() {
    boolean leads = leader != null && leader.isServing();
    return below(leads ? leader.leadership.stable() : replica.stable());
  }

  private Stable below(long timestamp) {
    return new Stable(timestamp, replica.inDoubt().epoch());
  }

  /**
   * The commits in doubt; empty if this member does not serve, or has not come to an epoch that
   * others have heard of, so that it no longer leads.
   */
  Optional<InDoubtCommits> inDoubt(long epoch) {
    return serving(leader -> replica.inDoubt()).filter(set -> set.epoch() >= epoch);
  }

  /** Registers a waiter, unless its time has come already. */
  WaitResult stableOrWait(long timestamp, Request request) {
    return serving(leader -> stableOrWait(leader, timestamp, request))
        .orElseGet(WaitResult.NotServing::new);
  }

  private WaitResult stableOrWait(LeaderState of, long timestamp, Request request) {
    Stable stable = start(of);
    if (stable.timestamp() >= timestamp) {
      return new WaitResult.Now(stable);
    }
    return of.waiters.add(timestamp, request, nowMillis() + LeaderState.MAX_WAIT_MILLIS)
        ? new WaitResult.Later()
        : new WaitResult.TooMany();
  }

  /** Those who have waited long enough, to be told how far it is. */
  List<Request> overdueWaiters() {
    return locked(() -> leader == null ? List.<Request>of() : leader.waiters.overdue(nowMillis()));
  }

  /** What this member has as stable. */
  Stable stable() {
    return locked(this::known);
  }

  /**
   * Whether a transaction can have been given this start timestamp. Entries that are made from now
   * on commit nothing below it, so a commit that has it can be applied.
   */
  boolean isStart(long timestamp) {
    return serving(leader -> leader.leadership.isStart(timestamp, nowMicros())).orElse(false);
  }

  /** With what {@link #applied} has said. */
  Optional<RenewedLease> renew(long session, long oldestStart, List<Long> unlogged) {
    return serving(
        leader -> {
          boolean isOpen = leader.leases.renew(session, oldestStart, nowMillis());
          Stable stable = start(leader);
          return new RenewedLease(
              isOpen,
              stable,
              lowWatermark(leader, stable.timestamp()),
              Math.max(replica.last(), stable.timestamp()),
              false,
              unlogged);
        });
  }

  /** No open transaction reads below this; 0 if this member does not serve. */
  long lowWatermark() {
    return serving(leader -> lowWatermark(leader, leader.leadership.startTimestamp(nowMicros())))
        .orElse(0L);
  }

  private long lowWatermark(LeaderState of, long stable) {
    long retained = Math.max(replica.last(), stable) - replica.config().retentionMicros();
    return Math.min(of.leases.oldestStart(stable), retained);
  }

  /** What the leader does by itself. */
  List<Command> tasks(boolean isInUse) {
    return serving(leader -> leader.tasks(replica, isInUse, nowMicros(), nowMillis()))
        .orElse(List.of());
  }

  Optional<Outcome> outcome(UUID transactionId) {
    return locked(() -> replica.outcome(transactionId));
  }

  /** Decided commits of coordinators that are gone. */
  List<PendingCommit> orphans() {
    return locked(replica::orphans);
  }

  /** What this node is to finish for other coordinators; nothing unless this member leads. */
  List<UnfinishedCommit> unfinished() {
    return serving(leader -> replica.unfinished()).orElse(List.of());
  }

  SavedReplica save() {
    return locked(() -> SavedReplica.of(replica));
  }

  /** Takes the state of a leader; whoever leads does not get any. */
  void restore(OracleReplica restored) {
    locked(
        () -> {
          replica = restored;
          changes.restored(restored.last());
          isServing = false;
          if (leader != null) {
            leader.leadership.end();
          }
          return null;
        });
  }

  /** Looks at the replica; the function must not keep it. */
  <T> T look(Function<OracleReplica, T> look) {
    return locked(() -> look.apply(replica));
  }

  /** Milliseconds since the leader heard of a session; -1 if it is not known here. */
  long silentMillis(long session) {
    return serving(leader -> leader.leases.silentMillis(session, nowMillis())).orElse(-1L);
  }

  private <T> Optional<T> serving(Function<LeaderState, T> action) {
    return locked(
        () ->
            leader == null || !leader.isServing()
                ? Optional.empty()
                : Optional.ofNullable(action.apply(leader)));
  }

  private <T> T locked(Supplier<T> action) {
    lock.lock();
    try {
      return action.get();
    } finally {
      lock.unlock();
    }
  }

  private long nowMicros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant());
  }

  private static long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }
}
