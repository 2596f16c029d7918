// SPDX-License-Identifier: Apache-2.0
package io.isolde.embedded;

import io.isolde.oracle.CommitRequest;
import io.isolde.oracle.Decision;
import io.isolde.oracle.OracleConfig;
import io.isolde.oracle.OracleStatistics;
import io.isolde.oracle.Outcome;
import io.isolde.oracle.StatusOracle;
import io.isolde.transaction.Oracle;
import io.isolde.version.VersionClock;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The status oracle of a single node: the core behind a lock. Its decisions live as long as the
 * process; that is enough, since nobody else can know of them. Its timestamps outlive it: they are
 * reserved on disk ahead of their use, so none is given out twice.
 */
public final class EmbeddedOracle implements Oracle, VersionClock {

  /** Somebody who waits for a timestamp to become stable. */
  private record Waiter(long timestamp, CompletableFuture<Void> stable) {}

  private static final CompletableFuture<Void> STABLE = CompletableFuture.completedFuture(null);

  private final ReentrantLock lock = new ReentrantLock();
  private final StatusOracle core;
  private final Clock clock;
  private final TimestampReservation reservation;
  private final long reservationMicros;

  /** Guarded by lock. Bounded by the requests in flight. */
  private final PriorityQueue<Waiter> waiters =
      new PriorityQueue<>(Comparator.comparingLong(Waiter::timestamp));

  private volatile long latestTimestamp;
  private volatile long lowWatermark;
  private volatile long stableSoFar;

  /**
   * Starts above every timestamp that was ever reserved.
   *
   * @param reservationMicros how far ahead timestamps are reserved
   */
  public EmbeddedOracle(
      OracleConfig config, TimestampReservation reservation, long reservationMicros, Clock clock) {
    this.clock = clock;
    this.reservation = reservation;
    this.reservationMicros = reservationMicros;
    long first = Math.max(reservation.read(), nowMicros());
    this.core = new StatusOracle(config, first);
    reserve(first);
    this.latestTimestamp = core.next(nowMicros());
    this.lowWatermark = core.lowWatermark();
    this.stableSoFar = core.stable();
  }

  @Override
  public long begin(UUID transactionId) {
    return locked(
        () -> {
          if (core.outcome(transactionId).isPresent()) {
            throw Oracle.alreadyDecided(transactionId);
          }
          return core.begin(transactionId, reservedNow());
        });
  }

  @Override
  public void beginAt(UUID transactionId, long snapshot) {
    locked(
        () -> {
          core.beginAt(transactionId, snapshot, reservedNow());
          return null;
        });
  }

  @Override
  public CompletableFuture<Decision> commit(CommitRequest request, byte[] writeSet) {
    return CompletableFuture.completedFuture(locked(() -> core.commit(request, reservedNow())));
  }

  /** Nobody else could finish a commit; Cassandra's batch log does after a crash. */
  @Override
  public int maxCommitBytes() {
    return 0;
  }

  @Override
  public CompletableFuture<Void> applied(long commitTimestamp) {
    List<Waiter> ready = new ArrayList<>(0);
    CompletableFuture<Void> stable =
        locked(
            () -> {
              core.applied(commitTimestamp);
              long newest = core.stable(reservedNow());
              while (!waiters.isEmpty() && waiters.peek().timestamp <= newest) {
                ready.add(waiters.poll());
              }
              return stableAt(commitTimestamp, newest);
            });
    // Outside of the lock: what hangs on the futures is not ours.
    ready.forEach(waiter -> waiter.stable.complete(null));
    return stable;
  }

  @Override
  public void end(UUID transactionId) {
    locked(
        () -> {
          core.end(transactionId);
          return null;
        });
  }

  @Override
  public CompletableFuture<Void> whenStable(long timestamp) {
    return locked(() -> stableAt(timestamp, core.stable(reservedNow())));
  }

  private CompletableFuture<Void> stableAt(long timestamp, long newest) {
    if (newest >= timestamp) {
      return STABLE;
    }
    Waiter waiter = new Waiter(timestamp, new CompletableFuture<>());
    waiters.add(waiter);
    var unused = waiter.stable.whenComplete((stable, cancelled) -> forgetIfCancelled(waiter));
    return waiter.stable;
  }

  private void forgetIfCancelled(Waiter waiter) {
    if (waiter.stable.isCancelled()) {
      lock.lock();
      try {
        waiters.remove(waiter);
      } finally {
        lock.unlock();
      }
    }
  }

  @Override
  public long stableSoFar() {
    return stableSoFar;
  }

  /** How many wait for a timestamp to become stable. */
  int waiting() {
    return locked(waiters::size);
  }

  @Override
  public long stable() {
    return locked(() -> core.stable(reservedNow()));
  }

  @Override
  public long next() {
    return locked(() -> core.next(reservedNow()));
  }

  @Override
  public void advanceTo(long timestamp) {
    locked(
        () -> {
          reserve(timestamp);
          core.advanceTo(timestamp);
          return null;
        });
  }

  @Override
  public Optional<Outcome> outcome(UUID transactionId) {
    return locked(() -> core.outcome(transactionId));
  }

  @Override
  public void keepUp() {
    var unused = stable();
  }

  OracleStatistics statistics() {
    return locked(core::statistics);
  }

  @Override
  public long latestTimestamp() {
    // Also the wall clock: a reader may ask for it before the next timestamp is given out.
    return Math.max(latestTimestamp, nowMicros());
  }

  @Override
  public long lowWatermark() {
    return lowWatermark;
  }

  private <T> T locked(Supplier<T> action) {
    lock.lock();
    try {
      T result = action.get();
      latestTimestamp = core.lastIssued();
      lowWatermark = core.lowWatermark();
      stableSoFar = core.stable();
      return result;
    } finally {
      lock.unlock();
    }
  }

  /** The time, after making sure that timestamps up to it and beyond are reserved. */
  private long reservedNow() {
    long now = nowMicros();
    // Half of the reservation early, so that a burst of timestamps does not run out of it.
    if (Math.max(now, core.lastIssued()) + reservationMicros / 2 > core.reservedUntil()) {
      reserve(Math.max(now, core.lastIssued()));
    }
    return now;
  }

  private void reserve(long from) {
    long until = from + reservationMicros;
    if (until > core.reservedUntil()) {
      reservation.write(until);
      core.reserve(until);
    }
  }

  private long nowMicros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant());
  }
}
