// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.group;

import io.isolde.raft.ByteBudget;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.LogData;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Puts what comes into the log, in the order in which it comes, many in one entry: what comes while
 * entries are under way goes into the next one (group commit). A {@link Pace} says when the next
 * one goes. Thread-safe; bounded in number and bytes.
 */
public final class ProposalBatcher<T extends ProposalBatcher.Item, E extends LogData> {

  /** What is to be put into the log. */
  public interface Item {
    /** About what it takes in the log. */
    int bytes();

    /** About what it takes in memory while it waits. */
    default int heapBytes() {
      return bytes();
    }
  }

  /** What entries are. Its methods do not throw. */
  public interface Entries<T, E> {
    /** Makes an entry, one at a time; empty if there can be none, and its items are answered. */
    Optional<E> entry(List<T> items);

    /**
     * What came of an entry; the next ones are proposed already, so it may take its time.
     *
     * @param items of the entry; none if the caller made it alone
     * @param failure null if it is applied
     */
    void ended(List<T> items, E entry, GroupFailure failure);
  }

  /**
   * What bounds it.
   *
   * @param maxQueued what may wait, in number
   * @param maxItemsPerEntry keeps what is applied at once to some milliseconds
   * @param maxEntryBytes the log takes no larger entry than one append
   */
  public record Limits(int maxQueued, int maxItemsPerEntry, int maxEntryBytes) {}

  private final Limits limits;
  private final Pace pace;
  private final ByteBudget memory;
  private final Executor proposing;
  private final Function<E, CompletableFuture<Void>> log;
  private final Entries<T, E> entries;

  /** Guarded by this, as all below; at most {@link Limits#maxQueued}. */
  private final ArrayDeque<T> queue = new ArrayDeque<>();

  private int underWay;
  private int lastSize = 1;

  /** While there is one no entry is made; the first completes when none is under way. */
  private final ArrayDeque<CompletableFuture<Void>> pauses = new ArrayDeque<>();

  /** Whether an entry may go now. Written under the lock of this. */
  private volatile boolean isDue;

  /** More than 0 while somebody makes entries; what the others want is done by that one. */
  private final AtomicInteger wanted = new AtomicInteger();

  /**
   * Begins without anything.
   *
   * @param memory of what waits; others may take of it, too
   * @param proposing runs what makes entries: a thread of its own, or that of whoever offers
   * @param log proposes an entry; completes when it is applied
   */
  public ProposalBatcher(
      Limits limits,
      Pace pace,
      ByteBudget memory,
      Executor proposing,
      Function<E, CompletableFuture<Void>> log,
      Entries<T, E> entries) {
    this.limits = limits;
    this.pace = pace;
    this.memory = memory;
    this.proposing = proposing;
    this.log = log;
    this.entries = entries;
  }

  /** What waits for an entry, in number. */
  public synchronized int size() {
    return queue.size();
  }

  /**
   * Takes an item; {@link #propose} is to be called then.
   *
   * @return why it does not take it: {@code REFUSED} if it would not fit into any entry
   */
  public Optional<Reason> add(T item) {
    if (item.bytes() > limits.maxEntryBytes()) {
      return Optional.of(Reason.REFUSED);
    }
    synchronized (this) {
      if (queue.size() >= limits.maxQueued() || !memory.take(item.heapBytes())) {
        return Optional.of(Reason.OVERLOADED);
      }
      queue.add(item);
      look();
      return Optional.empty();
    }
  }

  /** Makes the entries that may go now. Cheap if there are none. */
  public void propose() {
    if (!isDue || wanted.getAndIncrement() != 0) {
      return;
    }
    try {
      proposing.execute(this::proposeAll);
    } catch (RejectedExecutionException closed) {
      // Whoever has closed it takes out what waits.
    }
  }

  /** One thread at a time, so that the order of the queue is that of the log. */
  private void proposeAll() {
    int seen = 1;
    do {
      for (List<T> next = next(); !next.isEmpty(); next = next()) {
        propose(next, entries.entry(next));
      }
      seen = wanted.addAndGet(-seen);
    } while (seen != 0);
  }

  private synchronized List<T> next() {
    if (!isDue) {
      return List.of();
    }
    List<T> next = new ArrayList<>();
    long bytes = 0;
    while (!queue.isEmpty() && next.size() < limits.maxItemsPerEntry()) {
      bytes += queue.peek().bytes();
      if (bytes > limits.maxEntryBytes() && !next.isEmpty()) {
        break;
      }
      next.add(queue.poll());
    }
    giveBack(next);
    lastSize = next.size();
    begin();
    return next;
  }

  private void giveBack(List<T> items) {
    memory.give(items.stream().mapToLong(Item::heapBytes).sum());
  }

  private synchronized void begin() {
    underWay++;
    look();
  }

  private void look() {
    isDue =
        !queue.isEmpty() && pauses.isEmpty() && pace.mayPropose(underWay, queue.size(), lastSize);
  }

  /** It counts as under way already. */
  private void propose(List<T> items, Optional<E> entry) {
    if (entry.isEmpty()) {
      end();
      return;
    }
    CompletableFuture<Void> proposal;
    try {
      proposal = log.apply(entry.get());
    } catch (RuntimeException e) {
      proposal = CompletableFuture.failedFuture(e);
    }
    var unused =
        proposal.whenComplete(
            (applied, failure) -> {
              end();
              GroupFailure known = failure == null ? null : GroupFailure.of(failure);
              entries.ended(items, entry.get(), known);
            });
  }

  private void end() {
    synchronized (this) {
      assert underWay > 0 : "it was under way";
      underWay--;
      look();
    }
    goOn();
  }

  /** After one of those that are under way, or a pause. */
  private void goOn() {
    CompletableFuture<Void> pause;
    synchronized (this) {
      pause = underWay == 0 ? pauses.peek() : null;
    }
    if (pause != null) {
      pause.complete(null);
    }
    propose();
  }

  /** Proposes what the caller makes, if an entry may go; it need not wait until it is large. */
  public void tryPropose(Supplier<Optional<E>> own) {
    synchronized (this) {
      if (!pauses.isEmpty() || !pace.mayPropose(underWay, Integer.MAX_VALUE, lastSize)) {
        return;
      }
      begin();
    }
    proposeOwn(own);
  }

  /** As {@link #tryPropose}, but waits until no entry is under way, and lets no other one go. */
  public void proposeAlone(Supplier<Optional<E>> own) {
    CompletableFuture<Void> pause = pause();
    var unused = pause.join();
    try {
      begin();
      proposeOwn(own);
    } finally {
      resume(pause);
    }
  }

  private void proposeOwn(Supplier<Optional<E>> own) {
    Optional<E> entry = Optional.empty();
    try {
      entry = own.get();
    } finally {
      propose(List.of(), entry);
    }
  }

  /**
   * Makes no entries until {@link #resume}; completes when none is under way, and no other pause. A
   * transfer target whose log is behind by an entry loses its election, and nobody leads until the
   * time-out.
   */
  public CompletableFuture<Void> pause() {
    CompletableFuture<Void> pause = new CompletableFuture<>();
    synchronized (this) {
      pauses.add(pause);
      look();
    }
    goOn();
    return pause;
  }

  /** Ends a pause, also one that has not begun. */
  public void resume(CompletableFuture<Void> pause) {
    synchronized (this) {
      pauses.removeIf(one -> one == pause);
      look();
    }
    goOn();
  }

  /** Takes out all that waits. */
  public synchronized List<T> drain() {
    List<T> left = List.copyOf(queue);
    queue.clear();
    giveBack(left);
    look();
    return left;
  }
}
