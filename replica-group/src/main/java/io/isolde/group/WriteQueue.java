// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.ByteBudget;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.RaftReplica;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.apache.ratis.protocol.Message;

/**
 * Puts the leader's writes into the log in the order in which they come, many in one entry: what
 * comes while entries are under way goes into the next one (group commit).
 */
final class WriteQueue {
  /** With more, entries get smaller, and each costs every member far more than a write in it. */
  private static final int MAX_ENTRIES_UNDER_WAY = 2;

  private static final int MAX_WRITES_PER_ENTRY = 1024;
  private static final int MAX_QUEUED = 16_384;

  /** Partitions that share a place wait for each other's writes, which is seldom and harmless. */
  private static final int PLACES = 4096;

  private static final CompletableFuture<Long> NOTHING = CompletableFuture.completedFuture(0L);

  private record Queued(Write write, CompletableFuture<Long> answer) {}

  /** Where a partition stands: which write to it was the last when somebody looked. */
  record Place(int index, long writes, CompletableFuture<Void> before) {}

  private final RaftReplica replica;
  private final int maxEntryBytes;
  private final LongSupplier wallMicros;
  private final ByteBudget memory;

  /** What {@link #nextMicros} has said last. */
  private final AtomicLong saidMicros = new AtomicLong();

  /** Guarded by itself, with all below; at most {@link #MAX_QUEUED}. */
  private final ArrayDeque<Queued> queue = new ArrayDeque<>();

  /** Taken from the memory that the node's queues have together. */
  private long queuedBytes;

  private final long[] writes = new long[PLACES];

  @SuppressWarnings({"unchecked", "rawtypes"})
  private final CompletableFuture<Long>[] last = new CompletableFuture[PLACES];

  private int underWay;
  private boolean isHeld;

  /** Null unless somebody waits until nothing is under way. */
  private CompletableFuture<Void> idle;

  /** More than 0 while somebody makes entries; what the others want is done by that one. */
  private final AtomicInteger wanted = new AtomicInteger();

  WriteQueue(RaftReplica replica, int maxEntryBytes, LongSupplier wallMicros, ByteBudget memory) {
    this.replica = replica;
    this.memory = memory;
    this.maxEntryBytes = maxEntryBytes;
    this.wallMicros = wallMicros;
  }

  /**
   * The time of the clock, or of an earlier look at it if it was turned back since: what is
   * proposed afterwards is not below.
   */
  long nextMicros() {
    return saidMicros.accumulateAndGet(wallMicros.getAsLong(), Math::max);
  }

  int size() {
    synchronized (queue) {
      return queue.size();
    }
  }

  CompletableFuture<Long> offer(Write write) {
    return offerAt(null, write);
  }

  /** Where a partition stands now. */
  Place place(int keyHash) {
    int index = Math.floorMod(keyHash, PLACES);
    synchronized (queue) {
      CompletableFuture<Long> before = last[index] == null ? NOTHING : last[index];
      // Whether it worked is not the business of who comes after.
      return new Place(index, writes[index], before.handle((done, failure) -> null));
    }
  }

  /**
   * Takes a write; null if somebody else has written to the partition since the place was taken.
   */
  CompletableFuture<Long> offerAt(Place place, Write write) {
    if (write.bytes() > maxEntryBytes) {
      return CompletableFuture.failedFuture(
          new GroupFailure(
              GroupFailure.Reason.REFUSED,
              "A write of " + write.bytes() + " bytes does not fit into the log's entries."));
    }
    CompletableFuture<Long> answer = new CompletableFuture<>();
    synchronized (queue) {
      if (place != null && writes[place.index()] != place.writes()) {
        return null;
      }
      if (queue.size() >= MAX_QUEUED || !memory.take(write.bytes())) {
        return CompletableFuture.failedFuture(
            new GroupFailure(
                GroupFailure.Reason.OVERLOADED, "Too many writes wait at the group's leader."));
      }
      for (int keyHash : write.keyHashes()) {
        int index = Math.floorMod(keyHash, PLACES);
        writes[index]++;
        last[index] = answer;
      }
      queue.add(new Queued(write, answer));
      queuedBytes += write.bytes();
    }
    makeEntries();
    return answer;
  }

  /**
   * Makes no entries until {@link #goOn}; completes when none is under way. A transfer target whose
   * log is behind by an entry loses its election, and nobody leads until the time-out.
   */
  CompletableFuture<Void> hold(long timeoutMillis) {
    CompletableFuture<Void> held = new CompletableFuture<>();
    synchronized (queue) {
      isHeld = true;
      if (underWay == 0) {
        held.complete(null);
      } else {
        idle = held;
      }
    }
    return held.completeOnTimeout(null, timeoutMillis, TimeUnit.MILLISECONDS);
  }

  /** Ends {@link #hold}. */
  void goOn() {
    synchronized (queue) {
      isHeld = false;
    }
    makeEntries();
  }

  /** One thread at a time, so that the order of the queue is that of the log. */
  private void makeEntries() {
    if (wanted.getAndIncrement() != 0) {
      return;
    }
    int seen = 1;
    do {
      for (List<Queued> next = next(); !next.isEmpty(); next = next()) {
        propose(next);
      }
      seen = wanted.addAndGet(-seen);
    } while (seen != 0);
  }

  private List<Queued> next() {
    synchronized (queue) {
      if (queue.isEmpty() || isHeld || underWay >= MAX_ENTRIES_UNDER_WAY) {
        return List.of();
      }
      List<Queued> next = new ArrayList<>();
      long bytes = 0;
      while (!queue.isEmpty() && next.size() < MAX_WRITES_PER_ENTRY) {
        bytes += queue.peek().write().bytes();
        if (bytes > maxEntryBytes && !next.isEmpty()) {
          break;
        }
        next.add(queue.poll());
      }
      long before = queuedBytes;
      next.forEach(one -> queuedBytes -= one.write().bytes());
      memory.give(before - queuedBytes);
      assert queuedBytes >= 0 && (queuedBytes == 0) == queue.isEmpty();
      underWay++;
      return next;
    }
  }

  private void propose(List<Queued> queued) {
    long nowMicros = nextMicros();
    List<Entry.Item> items = new ArrayList<>(queued.size());
    for (Queued one : queued) {
      Write write = one.write();
      items.add(
          new Entry.Item(
              write.id(), nowMicros, write.decidedInTerm(), write.payload(), write.decoded()));
    }
    CompletableFuture<Message> proposal;
    try {
      proposal = replica.propose(new Entry(items));
    } catch (RuntimeException e) {
      proposal = CompletableFuture.failedFuture(e);
    }
    var unused = proposal.whenComplete((applied, failure) -> answer(queued, applied, failure));
  }

  private void answer(List<Queued> queued, Message applied, Throwable failure) {
    CompletableFuture<Void> waiting = null;
    synchronized (queue) {
      underWay--;
      if (underWay == 0) {
        waiting = idle;
        idle = null;
      }
    }
    if (waiting != null) {
      waiting.complete(null);
    }
    // First the next entry: those that are answered may take their time.
    makeEntries();
    if (failure == null && applied instanceof GroupStateMachine.Applied answers) {
      for (int i = 0; i < queued.size(); i++) {
        answer(queued.get(i), answers.timestamps().get(i));
      }
      return;
    }
    GroupFailure refusal =
        failure == null
            ? new GroupFailure(GroupFailure.Reason.UNKNOWN, "The log gave no answer.")
            : GroupFailure.of(failure);
    queued.forEach(one -> one.answer().completeExceptionally(refusal));
  }

  private void answer(Queued write, long timestampMicros) {
    if (timestampMicros == GroupStateMachine.Applied.OUTDATED) { // To be decided on again.
      write.answer().completeExceptionally(GroupFailure.notLeader(replica.leader()));
    } else if (timestampMicros == RetryWindow.FORGOTTEN) {
      write.answer().completeExceptionally(RetryWindow.forgotten());
    } else {
      write.answer().complete(timestampMicros);
    }
  }
}
