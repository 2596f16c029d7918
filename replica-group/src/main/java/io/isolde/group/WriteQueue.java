// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.ByteBudget;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.RaftReplica;
import io.isolde.raft.group.Pace;
import io.isolde.raft.group.ProposalBatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Puts the leader's writes into the log in the order in which they come, as {@link ProposalBatcher}
 * collects them. It knows which write to a partition was the last.
 */
final class WriteQueue implements ProposalBatcher.Entries<WriteQueue.Queued, Entry> {
  /** With more, entries get smaller, and each costs every member far more than a write in it. */
  private static final int MAX_ENTRIES_UNDER_WAY = 2;

  private static final int MAX_WRITES_PER_ENTRY = 1024;
  private static final int MAX_QUEUED = 16_384;

  /** Partitions that share a place wait for each other's writes, which is seldom and harmless. */
  private static final int PLACES = 4096;

  private static final CompletableFuture<Long> NOTHING = CompletableFuture.completedFuture(0L);

  /** A write that waits for the log, and who waits for it. */
  record Queued(Write write, CompletableFuture<Long> answer) implements ProposalBatcher.Item {
    @Override
    public int bytes() {
      return write.bytes();
    }
  }

  /** Where a partition stands: which write to it was the last when somebody looked. */
  record Place(int index, long writes, CompletableFuture<Void> before) {}

  private final RaftReplica replica;
  private final LongSupplier wallMicros;
  private final ProposalBatcher<Queued, Entry> batcher;

  /** What {@link #nextMicros} has said last. */
  private final AtomicLong saidMicros = new AtomicLong();

  /** How many there were to each place. Guarded by itself, as the next. */
  private final long[] writes = new long[PLACES];

  @SuppressWarnings({"unchecked", "rawtypes"})
  private final CompletableFuture<Long>[] last = new CompletableFuture[PLACES];

  /** How many there were to all places at once, and the last of them. */
  private long writesToAll;

  private CompletableFuture<Long> lastToAll = NOTHING;

  /**
   * A queue of a group.
   *
   * @param memory for what waits, shared with other groups
   */
  WriteQueue(RaftReplica replica, int maxEntryBytes, LongSupplier wallMicros, ByteBudget memory) {
    this.replica = replica;
    this.wallMicros = wallMicros;
    // On the threads of those who offer: a node may have hundreds of groups.
    this.batcher =
        new ProposalBatcher<>(
            new ProposalBatcher.Limits(MAX_QUEUED, MAX_WRITES_PER_ENTRY, maxEntryBytes),
            Pace.atOnce(MAX_ENTRIES_UNDER_WAY),
            memory,
            Runnable::run,
            entry -> replica.propose(entry),
            this);
  }

  /**
   * The time of the clock, or of an earlier look at it if it was turned back since: what is
   * proposed afterwards is not below.
   */
  long nextMicros() {
    return saidMicros.accumulateAndGet(wallMicros.getAsLong(), Math::max);
  }

  int size() {
    return batcher.size();
  }

  CompletableFuture<Long> offer(Write write) {
    return offerAt(null, write);
  }

  /** Where a partition stands now. */
  Place place(int keyHash) {
    int index = Math.floorMod(keyHash, PLACES);
    synchronized (writes) {
      CompletableFuture<Long> before = last[index] == null ? NOTHING : last[index];
      // Whether it worked is not the business of who comes after.
      return new Place(
          index,
          writes[index] + writesToAll,
          CompletableFuture.allOf(before, lastToAll).handle((done, failure) -> null));
    }
  }

  /**
   * Takes a write; null if somebody else has written to the partition since the place was taken.
   */
  CompletableFuture<Long> offerAt(Place place, Write write) {
    CompletableFuture<Long> answer = new CompletableFuture<>();
    Optional<Reason> refusal;
    synchronized (writes) { // So that the order of the places is that of the queue.
      if (place != null && writes[place.index()] + writesToAll != place.writes()) {
        return null;
      }
      refusal = batcher.add(new Queued(write, answer));
      if (refusal.isEmpty()) {
        count(write, answer);
      }
    }
    batcher.propose();
    refusal.ifPresent(
        reason ->
            answer.completeExceptionally(
                new GroupFailure(
                    reason,
                    reason == Reason.OVERLOADED
                        ? "Too many writes wait at the group's leader."
                        : "A write of "
                            + write.bytes()
                            + " bytes does not fit into the log's entries.")));
    return answer;
  }

  private void count(Write write, CompletableFuture<Long> answer) {
    if (write.keyHashes().length == 0) {
      writesToAll++;
      lastToAll = answer;
    }
    for (int keyHash : write.keyHashes()) {
      int index = Math.floorMod(keyHash, PLACES);
      writes[index]++;
      last[index] = answer;
    }
  }

  /**
   * See {@link ProposalBatcher#pause}; completes also when entries do not come to an end in time.
   */
  CompletableFuture<Void> pause(long timeoutMillis) {
    return batcher.pause().completeOnTimeout(null, timeoutMillis, TimeUnit.MILLISECONDS);
  }

  /** Ends {@link #pause}. */
  void resume(CompletableFuture<Void> pause) {
    batcher.resume(pause);
  }

  @Override
  public Optional<Entry> entry(List<Queued> queued) {
    long nowMicros = nextMicros();
    List<Entry.Item> items = new ArrayList<>(queued.size());
    for (Queued one : queued) {
      Write write = one.write();
      items.add(
          new Entry.Item(
              write.id(), nowMicros, write.decidedInTerm(), write.payload(), write.decoded()));
    }
    return Optional.of(new Entry(items));
  }

  @Override
  public void ended(List<Queued> queued, Entry entry, GroupFailure failure) {
    if (failure == null && entry.timestamps() != null) {
      for (int i = 0; i < queued.size(); i++) {
        answer(queued.get(i), entry.timestamps().get(i));
      }
      return;
    }
    GroupFailure refusal =
        failure == null ? new GroupFailure(Reason.UNKNOWN, "The log gave no answer.") : failure;
    queued.forEach(one -> one.answer().completeExceptionally(refusal));
  }

  private void answer(Queued write, long timestampMicros) {
    if (timestampMicros == Entry.OUTDATED) { // To be decided on again.
      write.answer().completeExceptionally(GroupFailure.notLeader(replica.leader()));
    } else if (timestampMicros == RetryWindow.FORGOTTEN) {
      write.answer().completeExceptionally(RetryWindow.forgotten());
    } else if (timestampMicros == RetryWindow.REFUSED) {
      write.answer().completeExceptionally(RetryWindow.refused());
    } else {
      write.answer().complete(timestampMicros);
    }
  }
}
