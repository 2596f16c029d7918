// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.PendingCommit;
import io.isolde.oracle.replica.Answer;
import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.CoordinatorLeases;
import io.isolde.oracle.replica.Leadership;
import io.isolde.oracle.replica.LogEntry;
import io.isolde.oracle.replica.OracleReplica;
import io.isolde.oracle.replica.SavedReplica;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * This member's copy of the oracle behind a lock and, while the member leads, what only the leader
 * knows. Nobody is answered under the lock.
 */
final class ReplicaHost {

  /** What this member knows because it leads; replaced with every term. */
  private static final class Reign {
    private final long term;
    private final Leadership leadership;
    private final CoordinatorLeases leases;
    private final StableWaiters waiters = new StableWaiters();

    /** Whether the first entry of the term is applied. */
    private boolean isServing;

    private Reign(long term, Leadership leadership, CoordinatorLeases leases) {
      this.term = term;
      this.leadership = leadership;
      this.leases = leases;
    }
  }

  /** What applying an entry leads to. */
  record Applied(List<Answer> answers, long stable, List<Request> nowStable) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final OracleConfig config;
  private final long reservationMicros;
  private final long leaseMillis;
  private final Clock clock;

  private OracleReplica replica = new OracleReplica();

  /** Null while another member leads. */
  private Reign reign;

  private volatile boolean isServing;

  ReplicaHost(OracleConfig config, long reservationMicros, long leaseMillis, Clock clock) {
    this.config = config;
    this.reservationMicros = reservationMicros;
    this.leaseMillis = leaseMillis;
    this.clock = clock;
  }

  /**
   * This member leads from now on; returns the entry that must be applied before it serves. Empty
   * if that is known already.
   */
  Optional<EntryMessage> lead(long term) {
    return locked(
        () -> {
          if (reign != null && reign.term == term) {
            return Optional.empty();
          }
          isServing = false;
          Leadership leadership = new Leadership(replica, reservationMicros);
          LogEntry first = leadership.firstEntry(config, nowMicros());
          reign =
              new Reign(
                  term,
                  leadership,
                  new CoordinatorLeases(leaseMillis, replica.openSessions(), nowMillis()));
          return Optional.of(
              new EntryMessage(
                  first, List.of(new EntryMessage.Item(first.commands().get(0), null)), term));
        });
  }

  /** This member no longer leads; returns those who wait for something that it will not see. */
  List<Request> stepDown() {
    return locked(
        () -> {
          List<Request> waiting = reign == null ? List.of() : reign.waiters.all();
          reign = null;
          isServing = false;
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
        reign -> {
          List<Command> commands = items.stream().map(EntryMessage.Item::command).toList();
          return new EntryMessage(reign.leadership.entry(commands, nowMicros()), items, reign.term);
        });
  }

  /** An entry was refused by the log: it will not be applied. */
  void dropped(EntryMessage message) {
    locked(
        () -> {
          endOf(message);
          return null;
        });
  }

  /**
   * Applies the next entry of the log.
   *
   * @param message the entry as this member made it; null if another one did
   */
  Applied apply(LogEntry entry, EntryMessage message) {
    return locked(
        () -> {
          List<Answer> answers = replica.apply(entry);
          endOf(message);
          if (reign == null) {
            return new Applied(answers, replica.stable(), List.of());
          }
          followSessions(entry, answers);
          reign.isServing |= message != null && message.term() == reign.term;
          isServing = reign.isServing;
          long stable = replica.stable();
          return new Applied(answers, stable, reign.waiters.upTo(stable));
        });
  }

  private void endOf(EntryMessage message) {
    if (reign != null && message != null && message.term() == reign.term) {
      reign.leadership.entryApplied();
    }
  }

  private void followSessions(LogEntry entry, List<Answer> answers) {
    for (int i = 0; i < answers.size(); i++) {
      if (answers.get(i) instanceof Answer.SessionOpened opened) {
        reign.leases.opened(opened.session(), nowMillis());
      } else if (entry.commands().get(i) instanceof Command.FenceSession fence) {
        reign.leases.fenced(fence.session());
      }
    }
  }

  /** The newest snapshot; empty if this member does not serve. The caller has checked its lease. */
  Optional<Long> startTimestamp() {
    return serving(reign -> reign.leadership.startTimestamp(nowMicros()));
  }

  /** Registers a waiter unless its time has come already; then returns what is stable. */
  Optional<Long> stableOrWait(long timestamp, Request request) {
    return serving(
            reign -> {
              long stable = reign.leadership.startTimestamp(nowMicros());
              if (stable < timestamp) {
                reign.waiters.add(timestamp, request);
                return Optional.<Long>empty();
              }
              return Optional.of(stable);
            })
        .orElseGet(Optional::empty);
  }

  Optional<Renewed> renew(long session, long oldestStart) {
    return serving(
        reign -> {
          boolean isOpen = reign.leases.renew(session, oldestStart, nowMillis());
          long stable = reign.leadership.startTimestamp(nowMicros());
          return new Renewed(
              isOpen, stable, lowWatermark(reign, stable), Math.max(replica.last(), stable));
        });
  }

  /** No open transaction reads below this; 0 if this member does not serve. */
  long lowWatermark() {
    return serving(reign -> lowWatermark(reign, reign.leadership.startTimestamp(nowMicros())))
        .orElse(0L);
  }

  private long lowWatermark(Reign of, long stable) {
    long retained = Math.max(replica.last(), stable) - replica.config().retentionMicros();
    return Math.min(of.leases.oldestStart(stable), retained);
  }

  /** What the leader does by itself: fences those whose lease is over, and reserves timestamps. */
  List<Command> duties(boolean isInUse) {
    return serving(
            reign -> {
              List<Command> duties =
                  reign.leases.expired(nowMillis()).stream()
                      .<Command>map(Command.FenceSession::new)
                      .toList();
              boolean mustReserve =
                  isInUse && duties.isEmpty() && reign.leadership.needsReservation(nowMicros());
              return mustReserve ? List.<Command>of(new Command.IssueTimestamp(0)) : duties;
            })
        .orElse(List.of());
  }

  Optional<Outcome> outcome(UUID transactionId) {
    return locked(() -> replica.outcome(transactionId));
  }

  /** Decided commits of coordinators that are gone. */
  List<PendingCommit> orphans() {
    return locked(replica::orphans);
  }

  SavedReplica save() {
    return locked(() -> SavedReplica.of(replica));
  }

  void restore(OracleReplica restored) {
    locked(
        () -> {
          replica = restored;
          return null;
        });
  }

  /** Looks at the replica; the function must not keep it. */
  <T> T look(Function<OracleReplica, T> look) {
    return locked(() -> look.apply(replica));
  }

  /** Milliseconds since the leader heard of a session; -1 if it is not known here. */
  long silentMillis(long session) {
    return serving(reign -> reign.leases.silentMillis(session, nowMillis())).orElse(-1L);
  }

  private <T> Optional<T> serving(Function<Reign, T> action) {
    return locked(
        () ->
            reign == null || !reign.isServing
                ? Optional.empty()
                : Optional.of(action.apply(reign)));
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
