// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.OracleReplica;
import io.isolde.raft.ByteBudget;
import io.isolde.raft.Daemons;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.GroupFailure.Reason;
import io.isolde.raft.RaftReplica;
import io.isolde.raft.group.Pace;
import io.isolde.raft.group.ProposalBatcher;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes log entries of commands, as {@link ProposalBatcher} collects them, on a thread of its own;
 * and those entries that a leader makes by itself.
 */
final class Sequencer
    implements ProposalBatcher.Entries<EntryMessage.Item, EntryMessage>, AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Sequencer.class);

  /** Keeps what is applied at once, and holds up starts meanwhile, to some milliseconds. */
  private static final int MAX_COMMANDS_PER_ENTRY = 2048;

  /** More of them were not seen to bring anything. */
  private static final int MAX_ENTRIES_UNDER_WAY = 3;

  private static final long PAUSE_MILLIS = 1000;

  private final RaftReplica replica;
  private final ReplicaHost host;
  private final Supplier<Leading> leading;
  private final int maxEntryBytes;
  private final long maxPendingWriteBytes;
  private final StagingRoom room;
  private final Rates rates;
  private final ProposalBatcher<EntryMessage.Item, EntryMessage> batcher;
  private final ExecutorService thread =
      Executors.newSingleThreadExecutor(Daemons.named("isolde-oracle-sequencer"));
  private volatile boolean isClosed;

  Sequencer(
      RaftReplica replica,
      ReplicaHost host,
      Supplier<Leading> leading,
      OracleGroupConfig config,
      Rates rates) {
    this.replica = replica;
    this.host = host;
    this.leading = leading;
    this.maxEntryBytes = config.raft().appendBytes() / 4 * 3;
    this.maxPendingWriteBytes = config.maxPendingWriteBytes();
    this.room = new StagingRoom(maxPendingWriteBytes);
    this.rates = rates;
    this.batcher =
        new ProposalBatcher<>(
            new ProposalBatcher.Limits(config.maxQueued(), MAX_COMMANDS_PER_ENTRY, maxEntryBytes),
            Pace.asLargeAsTheLast(MAX_ENTRIES_UNDER_WAY),
            new ByteBudget(config.raft().pendingBytes()),
            thread,
            replica::propose,
            this);
  }

  /** Commands that wait for an entry. */
  int queued() {
    return batcher.size();
  }

  /** Takes a command; says why if it doesn't. */
  Optional<Reason> offer(EntryMessage.Item item) {
    Optional<Reason> noMemory =
        item.bytes() <= maxEntryBytes ? noMemoryFor(item.command()) : Optional.empty();
    if (noMemory.isPresent()) {
      return noMemory;
    }
    Optional<Reason> refusal = batcher.add(item);
    if (refusal.isPresent()) {
      leaveRoom(item);
    }
    if (isClosed) {
      refuse(batcher.drain());
    }
    batcher.propose();
    return refusal;
  }

  /**
   * The writes stay in the memory of all members until they are applied, which a slow replica puts
   * off. One that is larger than what there is for all gets in when it is the only one.
   */
  private Optional<Reason> noMemoryFor(Command command) {
    if (command instanceof Command.Stage part) {
      boolean isKnown = host.look(replica -> replica.hasStaged(part));
      return room.enter(part, isKnown, host.look(OracleReplica::pendingWriteBytes));
    }
    if (command instanceof Command.Commit commit && commit.writeSet().length > 0) {
      long pending = host.look(OracleReplica::pendingWriteBytes);
      boolean fits = pending == 0 || pending + commit.writeSet().length <= maxPendingWriteBytes;
      return fits ? Optional.empty() : Optional.of(Reason.OVERLOADED);
    }
    return Optional.empty();
  }

  /** The replica counts it from now on, or nobody does. */
  private void leaveRoom(EntryMessage.Item item) {
    if (item.command() instanceof Command.Stage part) {
      room.ended(part);
    }
  }

  /** Says why a command is refused for good. */
  String refusal(EntryMessage.Item item) {
    return item.bytes() > maxEntryBytes
        ? "A request of %d bytes is too large for the oracle's log, which takes %d."
            .formatted(item.bytes(), maxEntryBytes)
        : "The writes of a transaction take %d bytes at most at the oracle's leader."
            .formatted(room.maxBytes());
  }

  /**
   * Waits until no entry is under way, has the log know what is applied, and proposes nothing more
   * until {@link #resume}: see {@link ProposalBatcher#pause}.
   *
   * @return empty if entries did not come to an end in time; then there is no pause
   */
  Optional<CompletableFuture<Void>> pause() throws InterruptedException {
    CompletableFuture<Void> pause = batcher.pause();
    boolean isPaused = false;
    try {
      var unused = pause.get(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
      logUnreported();
      isPaused = true;
      return Optional.of(pause);
    } catch (ExecutionException | TimeoutException e) {
      return Optional.empty();
    } finally {
      if (!isPaused) {
        resume(pause);
      }
    }
  }

  /** Else the next leader would wait for the coordinators to tell it. */
  private void logUnreported() throws InterruptedException {
    Optional<EntryMessage> unreported = host.unreported();
    if (unreported.isEmpty()) {
      return;
    }
    try {
      var unused = replica.propose(unreported.get()).get(PAUSE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | RuntimeException e) {
      failed(unreported.get(), GroupFailure.of(e instanceof ExecutionException ? e.getCause() : e));
    } catch (TimeoutException e) {
      log.debug("What is applied was not logged in time; coordinators will tell the next leader");
    }
  }

  /** Ends {@link #pause}. */
  void resume(CompletableFuture<Void> pause) {
    batcher.resume(pause);
  }

  /**
   * This member leads. Waits until every entry of an earlier term is in the log or refused, which
   * Ratis sees to when it steps down; see {@link ReplicaHost#lead}.
   */
  void lead(long term) {
    batcher.proposeAlone(() -> host.lead(term));
  }

  /** The log may have refused the first entry; to be called now and then. */
  void leadAgain() {
    batcher.tryPropose(host::leadAgain);
  }

  @Override
  public Optional<EntryMessage> entry(List<EntryMessage.Item> items) {
    Optional<EntryMessage> entry = Optional.empty();
    try {
      entry = host.entry(items);
    } catch (RuntimeException | Error e) {
      // Else the member would lead, and decide nothing.
      log.error("No entry could be made of {} commands", items.size(), e);
    }
    entry.ifPresentOrElse(made -> rates.entry(items.size()), () -> refuse(items));
    return entry;
  }

  @Override
  public void ended(List<EntryMessage.Item> items, EntryMessage entry, GroupFailure failure) {
    items.forEach(this::leaveRoom);
    if (failure != null) {
      failed(entry, failure);
    }
  }

  private void failed(EntryMessage entry, GroupFailure failure) {
    log.debug("An entry of {} commands was not applied here", entry.items().size(), failure);
    if (!failure.reason().isOutcomeUnknown()) {
      host.dropped(entry);
    }
    // Also when it is unknown: the commands can be sent again, and get the same answer then.
    refuse(entry.items());
  }

  private void refuse(List<EntryMessage.Item> items) {
    Leading now = leading.get();
    for (EntryMessage.Item item : items) {
      leaveRoom(item);
      if (item.request() != null) {
        item.request().notLeader(now);
      }
    }
  }

  /** Whoever waits is told to look elsewhere. */
  @Override
  public void close() {
    isClosed = true;
    thread.shutdownNow();
    refuse(batcher.drain());
  }
}
