// SPDX-License-Identifier: Apache-2.0
package io.isolde.rowlock;

import io.isolde.oracle.group.Changes;
import io.isolde.oracle.lock.LockTable;
import io.isolde.rowlock.LockMessages.Granted;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * The locks of a cluster, on the node that leads the oracle: all commits pass there. When it leads
 * no more, its locks are gone; nodes then ask the new leader for those that they have.
 */
final class LockServer {
  /** Nodes renew their locks each second. */
  static final long LEASE_MILLIS = 4_000;

  private static final long NANOS_PER_MILLI = 1_000_000;

  private static final LockTable.Answer WAITS =
      new LockTable.Answer(LockTable.Outcome.WAITS, Optional.empty(), Set.of());

  private static final LockTable.Answer GRANTED =
      new LockTable.Answer(LockTable.Outcome.GRANTED, Optional.empty(), Set.of());

  private final BooleanSupplier isLeading;
  private final Supplier<Optional<Changes>> changes;
  private final ScheduledExecutorService clock;

  /** Guarded by this, as are the next two. */
  private LockTable table = new LockTable(LEASE_MILLIS);

  private final Map<UUID, Waiter> waiters = new HashMap<>();
  private long tickedMillis = nowMillis();

  private static final class Waiter {
    private final LockMessages.Ask ask;
    private final CompletableFuture<Optional<Granted>> answer = new CompletableFuture<>();
    private ScheduledFuture<?> timeout;

    Waiter(LockMessages.Ask ask) {
      this.ask = ask;
    }
  }

  /**
   * A server without locks.
   *
   * @param isLeading whether this node leads the oracle now
   * @param changes what this node knows of recent commits
   * @param clock runs time-outs
   */
  LockServer(
      BooleanSupplier isLeading,
      Supplier<Optional<Changes>> changes,
      ScheduledExecutorService clock) {
    this.isLeading = isLeading;
    this.changes = changes;
    this.clock = clock;
  }

  private static long nowMillis() {
    return System.nanoTime() / NANOS_PER_MILLI;
  }

  /** Answers a node; with nothing if this one does not lead. */
  CompletableFuture<Optional<Granted>> answer(LockMessages.Message message) {
    if (!isLeading.getAsBoolean()) {
      forget();
      return CompletableFuture.completedFuture(Optional.empty());
    }
    if (message instanceof LockMessages.Ask ask) {
      return ask(ask);
    }
    List<Waiter> granted =
        message instanceof LockMessages.GiveUp giveUp
            ? giveUp(giveUp)
            : release(message.transaction());
    if (!granted.isEmpty()) { // Not on this thread: it may be an event loop.
      clock.execute(() -> finish(granted));
    }
    return CompletableFuture.completedFuture(Optional.of(new Granted(GRANTED, 0)));
  }

  private CompletableFuture<Optional<Granted>> ask(LockMessages.Ask ask) {
    LockTable.Answer answer;
    synchronized (this) {
      answer = table.ask(ask.transaction(), ask.ids(), ask.mode(), nowMillis());
      if (answer.outcome() == LockTable.Outcome.WAITS && ask.waitMillis() > 0) {
        return await(ask, answer);
      }
    }
    return CompletableFuture.completedFuture(Optional.of(withChanges(ask, answer)));
  }

  private CompletableFuture<Optional<Granted>> await(
      LockMessages.Ask ask, LockTable.Answer answer) {
    Waiter waiter = new Waiter(ask);
    Waiter before = waiters.put(ask.transaction(), waiter);
    if (before != null) { // Its answer was lost, and it asks again.
      before.timeout.cancel(false);
      var unused = before.answer.complete(Optional.of(new Granted(answer, 0)));
    }
    waiter.timeout =
        clock.schedule(() -> timeOut(waiter, answer), ask.waitMillis(), TimeUnit.MILLISECONDS);
    return waiter.answer;
  }

  private void timeOut(Waiter waiter, LockTable.Answer answer) {
    synchronized (this) {
      if (!waiters.remove(waiter.ask.transaction(), waiter)) {
        return;
      }
    }
    waiter.answer.complete(Optional.of(new Granted(answer, 0)));
  }

  private synchronized List<Waiter> giveUp(LockMessages.GiveUp giveUp) {
    Waiter left = waiters.remove(giveUp.transaction());
    if (left != null) { // Another request of the transaction; it asks again.
      left.timeout.cancel(false);
      left.answer.complete(Optional.of(new Granted(WAITS, 0)));
    }
    return granted(table.giveUp(giveUp.transaction(), giveUp.ids()));
  }

  private synchronized List<Waiter> release(UUID transaction) {
    return granted(table.release(transaction));
  }

  private List<Waiter> granted(List<UUID> transactions) {
    List<Waiter> granted = new ArrayList<>();
    for (UUID transaction : transactions) {
      Waiter waiter = waiters.remove(transaction);
      if (waiter != null) { // Else it is between two questions, and hears of it then.
        waiter.timeout.cancel(false);
        granted.add(waiter);
      }
    }
    return granted;
  }

  private void finish(List<Waiter> granted) {
    for (Waiter waiter : granted) {
      waiter.answer.complete(Optional.of(withChanges(waiter.ask, GRANTED)));
    }
  }

  /** Who has waited for a row may find that it has changed since its snapshot. */
  private Granted withChanges(LockMessages.Ask ask, LockTable.Answer answer) {
    boolean isAsked = answer.outcome() == LockTable.Outcome.GRANTED && !ask.reads().isEmpty();
    return new Granted(
        answer,
        isAsked
            ? changes.get().map(known -> known.lastChange(ask.since(), ask.reads())).orElse(0L)
            : 0);
  }

  /** Looks for nodes that are silent; and whether this one still leads. */
  void tick() {
    if (!isLeading.getAsBoolean()) {
      forget();
      return;
    }
    List<Waiter> granted;
    synchronized (this) {
      long now = nowMillis();
      long lateMillis = now - tickedMillis - LEASE_MILLIS / 2;
      if (lateMillis > 0) {
        table.forgive(lateMillis);
      }
      tickedMillis = now;
      granted = granted(table.expire(now));
    }
    finish(granted);
  }

  private void forget() {
    List<Waiter> left;
    synchronized (this) {
      table = new LockTable(LEASE_MILLIS);
      left = List.copyOf(waiters.values());
      waiters.clear();
    }
    for (Waiter waiter : left) {
      waiter.timeout.cancel(false);
      waiter.answer.complete(Optional.empty());
    }
  }

  /** The transactions that have locks or wait; none if this node does not lead. */
  synchronized List<LockTable.Entry> entries() {
    return table.entries();
  }
}
