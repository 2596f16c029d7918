// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.ByteBudget;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.LogData;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ProposalBatcherTest {
  private static final int MAX_QUEUED = 100;
  private static final int MAX_ITEMS = 10;
  private static final int MAX_ENTRY_BYTES = 1_000;
  private static final int MAX_BYTES = 5_000;

  private record Numbered(int number, int bytes) implements ProposalBatcher.Item {
    @Override
    public int heapBytes() {
      return 2 * bytes;
    }
  }

  /** An entry; nobody reads it. */
  private record Entry(List<Numbered> items) implements LogData {
    @Override
    public byte[] encode() {
      return new byte[0];
    }
  }

  private final ByteBudget memory = new ByteBudget(MAX_BYTES);
  private final List<List<Integer>> entries = new ArrayList<>();

  /** Of the entries, in their order; those that are not done are under way. */
  private final List<CompletableFuture<Void>> proposals = new ArrayList<>();

  /** How many entries had been proposed when one was answered, or why it failed. */
  private final List<Object> ended = new ArrayList<>();

  private int next;

  private final class Recorded implements ProposalBatcher.Entries<Numbered, Entry> {
    @Override
    public Optional<Entry> entry(List<Numbered> items) {
      return Optional.of(new Entry(items));
    }

    @Override
    public void ended(List<Numbered> items, Entry entry, GroupFailure failure) {
      ended.add(failure == null ? entries.size() : failure.reason());
    }
  }

  private ProposalBatcher<Numbered, Entry> batcher(Pace pace, Executor proposing) {
    return new ProposalBatcher<>(
        new ProposalBatcher.Limits(MAX_QUEUED, MAX_ITEMS, MAX_ENTRY_BYTES),
        pace,
        memory,
        proposing,
        this::proposed,
        new Recorded());
  }

  private CompletableFuture<Void> proposed(Entry entry) {
    entries.add(entry.items().stream().map(Numbered::number).toList());
    CompletableFuture<Void> proposal = new CompletableFuture<>();
    proposals.add(proposal);
    return proposal;
  }

  private Optional<Reason> offer(ProposalBatcher<Numbered, Entry> batcher, int bytes) {
    Optional<Reason> refusal = batcher.add(new Numbered(next++, bytes));
    batcher.propose();
    return refusal;
  }

  private void offer(ProposalBatcher<Numbered, Entry> batcher) {
    assertThat(offer(batcher, 1)).isEmpty();
  }

  /** What the caller makes by itself. */
  private static Optional<Entry> own() {
    return Optional.of(new Entry(List.of()));
  }

  private void end(int entry) {
    proposals.get(entry).complete(null);
  }

  @Test
  void whenAnEntryIsUnderWayThenTheNextGoesWhenItIsAsLargeOrTheEntryEnds() {
    ProposalBatcher<Numbered, Entry> batcher = batcher(Pace.asLargeAsTheLast(3), Runnable::run);
    offer(batcher);
    assertThat(entries).containsExactly(List.of(0));
    CompletableFuture<Void> pause = batcher.pause();
    offer(batcher);
    offer(batcher);
    end(0);
    assertThat(pause).isDone();
    batcher.resume(pause);
    assertThat(entries).containsExactly(List.of(0), List.of(1, 2));
    offer(batcher);
    assertThat(entries).as("smaller than the last").hasSize(2);
    offer(batcher);
    assertThat(entries).endsWith(List.of(3, 4));
    offer(batcher);
    end(1);
    assertThat(entries).as("one is under way").hasSize(3);
    end(2);
    assertThat(entries).endsWith(List.of(5));
  }

  @Test
  void whenEntriesGoAtOnceThenSoManyAreUnderWayAndTheRestIsCollected() {
    ProposalBatcher<Numbered, Entry> batcher = batcher(Pace.atOnce(2), Runnable::run);
    for (int i = 0; i < 14; i++) {
      offer(batcher);
    }
    assertThat(entries).containsExactly(List.of(0), List.of(1));
    end(1);
    assertThat(entries).endsWith(List.of(2, 3, 4, 5, 6, 7, 8, 9, 10, 11)).hasSize(3);
    end(0);
    assertThat(entries).endsWith(List.of(12, 13)).hasSize(4);
    assertThat(batcher.size()).isZero();
  }

  @Test
  void whenAnEntryEndsThenTheNextIsProposedBeforeItIsAnswered() {
    ProposalBatcher<Numbered, Entry> batcher = batcher(Pace.atOnce(1), Runnable::run);
    offer(batcher);
    offer(batcher);
    end(0);
    assertThat(ended).containsExactly(2);
    proposals.get(1).completeExceptionally(GroupFailure.notLeader(Optional.empty()));
    assertThat(ended).containsExactly(2, Reason.NOT_LEADER);
  }

  @Test
  void whenThereIsAPauseThenNothingGoesAndTheNextPauseWaits() {
    ProposalBatcher<Numbered, Entry> batcher = batcher(Pace.asLargeAsTheLast(3), Runnable::run);
    CompletableFuture<Void> pause = batcher.pause();
    assertThat(pause).isDone();
    CompletableFuture<Void> second = batcher.pause();
    offer(batcher);
    batcher.tryPropose(ProposalBatcherTest::own);
    assertThat(entries).isEmpty();
    assertThat(second).isNotDone();
    batcher.resume(pause);
    assertThat(second).isDone();
    assertThat(entries).isEmpty();
    batcher.resume(second);
    assertThat(entries).containsExactly(List.of(0));
  }

  @Test
  void whenAPauseIsGivenUpBeforeItBeganThenEntriesGoOn() {
    ProposalBatcher<Numbered, Entry> batcher = batcher(Pace.asLargeAsTheLast(3), Runnable::run);
    offer(batcher);
    CompletableFuture<Void> pause = batcher.pause();
    offer(batcher);
    assertThat(pause).isNotDone();
    assertThat(entries).hasSize(1);
    batcher.resume(pause);
    assertThat(entries).hasSize(2);
    batcher.tryPropose(ProposalBatcherTest::own);
    batcher.tryPropose(ProposalBatcherTest::own);
    assertThat(entries).as("of three under way").hasSize(3);
  }

  @Test
  void whenTheCallersEntryMustBeAloneThenItWaitsForAllOthersAndThenCounts() throws Exception {
    ProposalBatcher<Numbered, Entry> batcher = batcher(Pace.asLargeAsTheLast(3), Runnable::run);
    offer(batcher);
    CompletableFuture<Void> alone =
        CompletableFuture.runAsync(() -> batcher.proposeAlone(ProposalBatcherTest::own));
    Thread.sleep(50);
    assertThat(alone).isNotDone();
    assertThat(entries).hasSize(1);
    end(0);
    alone.get(5, TimeUnit.SECONDS);
    assertThat(entries).containsExactly(List.of(0), List.of());
    CompletableFuture<Void> pause = batcher.pause();
    assertThat(pause).as("it is under way").isNotDone();
    end(1);
    assertThat(pause).isDone();
    batcher.resume(pause);
    batcher.proposeAlone(Optional::empty);
    assertThat(batcher.pause()).as("nothing is under way").isDone();
  }

  @Test
  void whenTooMuchWaitsThenItIsRefusedAndWhatIsTakenOutMakesRoom() {
    ProposalBatcher<Numbered, Entry> batcher = batcher(Pace.atOnce(1), Runnable::run);
    assertThat(offer(batcher, MAX_ENTRY_BYTES + 1)).contains(Reason.REFUSED);
    assertThat(batcher.pause()).isDone();
    assertThat(offer(batcher, 900)).isEmpty();
    assertThat(offer(batcher, 900)).isEmpty();
    assertThat(offer(batcher, 900)).contains(Reason.OVERLOADED);
    assertThat(batcher.drain()).hasSize(2);
    assertThat(memory.take(MAX_BYTES)).isTrue();
    memory.give(MAX_BYTES);
    for (int i = 0; i < MAX_QUEUED; i++) {
      offer(batcher);
    }
    assertThat(offer(batcher, 1)).contains(Reason.OVERLOADED);
  }

  @Test
  void whenItemsAreLargeThenAnEntryTakesWhatFits() {
    ProposalBatcher<Numbered, Entry> batcher = batcher(Pace.atOnce(1), Runnable::run);
    CompletableFuture<Void> pause = batcher.pause();
    for (int bytes : new int[] {600, 400, 1}) {
      assertThat(offer(batcher, bytes)).isEmpty();
    }
    batcher.resume(pause);
    assertThat(entries).containsExactly(List.of(0, 1));
    assertThat(memory.take(MAX_BYTES - 2)).as("one of one byte is left").isTrue();
  }

  @Test
  void whenItsThreadIsGoneThenWhatWaitsCanBeTakenOut() {
    ProposalBatcher<Numbered, Entry> batcher =
        batcher(
            Pace.atOnce(1),
            task -> {
              throw new RejectedExecutionException("closed");
            });
    offer(batcher);
    offer(batcher);
    assertThat(batcher.drain()).hasSize(2);
  }

  @Test
  void whenManyThreadsOfferThenEachOnesItemsAreInOrderAndNoneIsLost() throws Exception {
    int offering = 4;
    int each = 20_000;
    ExecutorService ending = Executors.newFixedThreadPool(2);
    ExecutorService proposing = Executors.newSingleThreadExecutor();
    try {
      for (Executor executor : List.<Executor>of(Runnable::run, proposing)) {
        AtomicInteger underWay = new AtomicInteger();
        AtomicInteger left = new AtomicInteger(offering * each);
        Map<Integer, Integer> last = new ConcurrentHashMap<>();
        List<String> problems = new ArrayList<>();
        ProposalBatcher<Numbered, Entry> batcher =
            new ProposalBatcher<>(
                new ProposalBatcher.Limits(MAX_QUEUED, MAX_ITEMS, MAX_ENTRY_BYTES),
                Pace.asLargeAsTheLast(3),
                memory,
                executor,
                entry ->
                    CompletableFuture.supplyAsync(
                        () -> {
                          underWay.decrementAndGet();
                          return null;
                        },
                        ending),
                new ProposalBatcher.Entries<>() {
                  @Override
                  public Optional<Entry> entry(List<Numbered> items) {
                    if (underWay.incrementAndGet() > 3 || items.size() > MAX_ITEMS) {
                      problems.add("too many: " + items.size());
                    }
                    for (Numbered item : items) {
                      Integer before = last.put(item.number() / each, item.number());
                      if (before != null && before != item.number() - 1) {
                        problems.add(item.number() + " after " + before);
                      }
                    }
                    return Optional.of(new Entry(items));
                  }

                  @Override
                  public void ended(List<Numbered> items, Entry entry, GroupFailure failure) {
                    left.addAndGet(-items.size());
                  }
                });
        CompletableFuture<?>[] threads = new CompletableFuture<?>[offering];
        Arrays.setAll(
            threads,
            thread ->
                CompletableFuture.runAsync(
                    () -> {
                      for (int i = 0; i < each; i++) {
                        Numbered item = new Numbered(thread * each + i, 1);
                        while (batcher.add(item).isPresent()) {
                          Thread.onSpinWait();
                        }
                        batcher.propose();
                      }
                    }));
        CompletableFuture.allOf(threads).get(60, TimeUnit.SECONDS);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (left.get() > 0) {
          assertThat(System.nanoTime()).as("%s are left", left).isLessThan(deadline);
          Thread.sleep(1);
        }
        assertThat(problems).isEmpty();
        assertThat(memory.take(MAX_BYTES)).isTrue();
        memory.give(MAX_BYTES);
      }
    } finally {
      ending.shutdownNow();
      proposing.shutdownNow();
    }
  }
}
