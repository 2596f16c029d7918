// SPDX-License-Identifier: Apache-2.0
package io.isolde.rowlock;

import io.isolde.error.IsoldeException;
import io.isolde.oracle.lock.LockTable;
import io.isolde.raft.Daemons;
import io.isolde.replicated.OracleHost;
import io.isolde.rowlock.LockMessages.Granted;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.cassandra.utils.NoSpamLogger;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Locks rows for the transactions of this node, at the oracle's leader. Locks never decide what
 * commits: if they are lost, the oracle finds the conflict. They end with their transaction, and
 * some seconds after its node.
 */
public final class RowLocks {
  private static final Logger logger = LoggerFactory.getLogger(RowLocks.class);

  /** Each holds a thread of the node's, of 128 as a rule. */
  private static final int MAX_WAITING = 48;

  private static final int MAX_COURTESIES = 16;

  /** Another node's connection counts as silent after a second without an answer. */
  private static final int MAX_WAIT_THERE_MILLIS = 500;

  private static final long LOOK_MILLIS = 20;
  private static final long TICK_MILLIS = 1_000;

  /** With the last of them the lease has ended the locks. */
  private static final int MAX_RELEASES = (int) (LockServer.LEASE_MILLIS / TICK_MILLIS) + 1;

  private final LockLeader leader;
  private final PendingReleases releases;
  private final Semaphore waiting = new Semaphore(MAX_WAITING);
  private final Semaphore courtesies = new Semaphore(MAX_COURTESIES);
  private final AtomicLong waits = new AtomicLong();
  private final AtomicLong waitedMillis = new AtomicLong();
  private final AtomicLong refusals = new AtomicLong();

  /** The transactions of this node that have locks, or may: not more than may be open. */
  private final Map<UUID, Owner> owners = new ConcurrentHashMap<>();

  private final ScheduledThreadPoolExecutor thread =
      new ScheduledThreadPoolExecutor(1, Daemons.named("isolde-row-locks"));

  private static final class Owner {
    /** Guarded by this, as is the next. */
    private final Set<Long> ids = new HashSet<>();

    private boolean isReleased;
  }

  /**
   * What a transaction wants.
   *
   * @param ids of the rows
   * @param reads ids that a reader of these rows would check
   * @param since in microseconds: from when on commits to the rows are looked for
   * @param name of the rows, for people
   */
  public record Wanted(
      UUID transaction,
      Set<Long> ids,
      LockTable.Mode mode,
      Set<Long> reads,
      long since,
      String name) {}

  /**
   * What a transaction has got.
   *
   * @param byOthers rows that others have; none but with {@link LockTable.Mode#SKIP}
   * @param lastCommit the last one that has changed the rows, in microseconds; 0 if none is known
   */
  public record Locked(Set<Long> byOthers, long lastCommit) {}

  /**
   * Has no locks. Nothing is asked before the first is wanted, and nothing answered before {@link
   * #serve}.
   *
   * @param host empty until the oracle's part of this node has started
   */
  public RowLocks(Supplier<Optional<OracleHost>> host) {
    this.thread.setRemoveOnCancelPolicy(true);
    this.leader = new LockLeader(host, thread);
    this.releases =
        new PendingReleases(
            transaction -> leader.send(new LockMessages.Release(transaction), 0), MAX_RELEASES);
  }

  /** Answers other nodes from now on, and renews what this one has. */
  public void serve() {
    leader.serve();
    var unused =
        thread.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /**
   * Locks rows. Waits on this thread, if the mode is to wait, until the transaction has them.
   *
   * @param deadlineNanos by {@link System#nanoTime}
   * @param isOver whether the transaction has ended meanwhile; then this gives up
   * @throws IsoldeException ROW_LOCKED if others have a row until then; TRANSACTION_TOO_LARGE;
   *     ORACLE_UNAVAILABLE
   */
  public Locked lock(Wanted wanted, long deadlineNanos, BooleanSupplier isOver) {
    if (wanted.ids.size() + locked(wanted) > LockTable.MAX_ROWS_EACH) {
      throw LockErrors.tooMany(wanted);
    }
    Granted granted =
        ask(wanted, deadlineNanos, isOver, waiting, true)
            .orElseThrow(() -> LockErrors.unavailable(wanted));
    LockTable.Answer answer = granted.answer();
    switch (answer.outcome()) {
      case GRANTED -> remember(wanted.transaction, wanted.ids, answer.lockedByOthers());
      case FULL -> throw LockErrors.tooMany(wanted);
      default -> {
        refusals.incrementAndGet();
        throw LockErrors.locked(wanted, answer);
      }
    }
    return new Locked(answer.lockedByOthers(), granted.lastCommit());
  }

  /**
   * Waits for something else than a lock, as one of those that may wait on this node.
   *
   * @return what it says; false if too many wait
   */
  public boolean await(BooleanSupplier step) {
    if (!waiting.tryAcquire()) {
      return false;
    }
    try {
      return step.getAsBoolean();
    } finally {
      waiting.release();
    }
  }

  /**
   * Locks a row for a statement that goes on without the lock, too: in vain, or if nobody leads.
   * Waits on this thread.
   *
   * @param locker releases it
   * @param deadlineNanos by {@link System#nanoTime}
   */
  public void lockIfPossible(UUID locker, long id, long deadlineNanos) {
    Wanted wanted =
        new Wanted(
            locker, Set.of(id), LockTable.Mode.WAIT, Set.of(), Long.MAX_VALUE, "The partition");
    Optional<Granted> granted = ask(wanted, deadlineNanos, () -> false, courtesies, false);
    if (granted.isPresent() && isGranted(granted.get())) {
      remember(locker, Set.of(id), Set.of());
    }
  }

  /**
   * Asks until the transaction has the rows, or not in time.
   *
   * @param places of those that wait
   * @param isPatient whether to wait for a leader, too
   * @return empty if nobody leads
   */
  private Optional<Granted> ask(
      Wanted wanted,
      long deadlineNanos,
      BooleanSupplier isOver,
      Semaphore places,
      boolean isPatient) {
    Optional<Granted> granted = Optional.empty();
    try {
      granted = answer(askFor(wanted, 0), 0); // Who gets them at once, needs no place.
      if (granted.isPresent() ? isFinal(granted.get()) : !isPatient) {
        return granted;
      }
      if (!places.tryAcquire()) {
        return granted;
      }
      long startNanos = System.nanoTime();
      try {
        granted = askAgain(wanted, deadlineNanos, isOver, isPatient);
        return granted;
      } finally {
        places.release();
        waits.incrementAndGet();
        waitedMillis.addAndGet(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos));
      }
    } finally {
      if (granted.isEmpty()) { // The answer may be lost, and it have the rows: to be released.
        remember(wanted.transaction, Set.of(), Set.of());
      }
      if (granted.isEmpty() || !isGranted(granted.get())) {
        giveUp(wanted);
      }
    }
  }

  private Optional<Granted> askAgain(
      Wanted wanted, long deadlineNanos, BooleanSupplier isOver, boolean isPatient) {
    while (true) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
      int waitMillis = (int) Math.max(0, Math.min(left, MAX_WAIT_THERE_MILLIS));
      Optional<Granted> granted = answer(askFor(wanted, waitMillis), waitMillis);
      boolean isOpen = left > 0 && !isOver.getAsBoolean();
      if (granted.isPresent() ? isFinal(granted.get()) || !isOpen : !isOpen || !isPatient) {
        return granted;
      }
      if (granted.isEmpty()) {
        pause();
      }
    }
  }

  /** How many other rows the transaction has, also if a new leader does not know of them yet. */
  private int locked(Wanted wanted) {
    Owner owner = owners.get(wanted.transaction);
    if (owner == null) {
      return 0;
    }
    synchronized (owner) {
      return (int) owner.ids.stream().filter(id -> !wanted.ids.contains(id)).count();
    }
  }

  /** What it had before, it keeps. From this thread, before it can ask for the same rows again. */
  private void giveUp(Wanted wanted) {
    Set<Long> ids = new HashSet<>(wanted.ids);
    Owner owner = owners.get(wanted.transaction);
    if (owner != null) {
      synchronized (owner) {
        ids.removeAll(owner.ids);
      }
    }
    if (!ids.isEmpty()) {
      var unused = leader.send(new LockMessages.GiveUp(wanted.transaction, ids), 0);
    }
  }

  private static boolean isGranted(Granted granted) {
    return granted.answer().outcome() == LockTable.Outcome.GRANTED;
  }

  private static boolean isFinal(Granted granted) {
    return granted.answer().outcome() != LockTable.Outcome.WAITS;
  }

  private static LockMessages.Ask askFor(Wanted wanted, int waitMillis) {
    return new LockMessages.Ask(
        wanted.transaction, wanted.ids, wanted.mode, wanted.since, wanted.reads, waitMillis);
  }

  /** Returns nothing if nobody leads, as far as can be found out now. */
  private Optional<Granted> answer(LockMessages.Message message, int waitMillis) {
    try {
      return leader.send(message, waitMillis).get();
    } catch (ExecutionException e) {
      return Optional.empty();
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private static void pause() {
    try {
      Thread.sleep(LOOK_MILLIS);
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private void remember(UUID transaction, Set<Long> ids, Set<Long> lockedByOthers) {
    Owner owner = owners.computeIfAbsent(transaction, made -> new Owner());
    synchronized (owner) {
      owner.ids.addAll(ids);
      owner.ids.removeAll(lockedByOthers);
    }
  }

  /** A transaction has ended. Costs nothing if it has no locks. */
  public void release(UUID transaction) {
    Owner owner = owners.remove(transaction);
    if (owner != null) {
      synchronized (owner) {
        owner.isReleased = true;
        releases.release(transaction); // Behind renewals.
      }
    }
  }

  private void tick() {
    try {
      owners.forEach(this::renew);
      releases.tick();
      leader.tick();
    } catch (RuntimeException e) { // Else it would be the last time.
      NoSpamLogger.log(
          logger,
          NoSpamLogger.Level.WARN,
          1,
          TimeUnit.MINUTES,
          "Row locks can't be renewed now; trying again in a second. {}",
          e.toString());
    }
  }

  /** Also at a leader that does not know of them yet. */
  private void renew(UUID transaction, Owner owner) {
    synchronized (owner) {
      if (!owner.isReleased && !owner.ids.isEmpty()) {
        var unused =
            leader.send(
                new LockMessages.Ask(
                    transaction,
                    Set.copyOf(owner.ids),
                    LockTable.Mode.SKIP,
                    Long.MAX_VALUE,
                    Set.of(),
                    0),
                0);
      }
    }
  }

  /** The locks of the cluster, if this node leads the oracle; else none. */
  public List<LockTable.Entry> entries() {
    return leader.entries();
  }

  /** How often a transaction of this node has waited for a lock. */
  public long waits() {
    return waits.get();
  }

  /** How long they have waited, all together. */
  public long waitedMillis() {
    return waitedMillis.get();
  }

  /** How often this node's transactions did not get a lock. */
  public long refusals() {
    return refusals.get();
  }
}
