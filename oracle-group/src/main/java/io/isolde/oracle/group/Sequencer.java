// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.RaftFailure;
import io.isolde.raft.RaftReplica;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes log entries of commands: whatever has come while the entries before were written goes into
 * the next one (group commit).
 */
final class Sequencer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Sequencer.class);

  /** Keeps what is applied at once, and holds up starts meanwhile, to some milliseconds. */
  private static final int MAX_COMMANDS_PER_ENTRY = 2048;

  /** Entries that are written but not yet applied: fills the time of a round trip and a sync. */
  private static final int MAX_ENTRIES_UNDER_WAY = 4;

  private static final long HOLD_MILLIS = 1000;

  private final RaftReplica replica;
  private final ReplicaHost host;
  private final Supplier<Leading> leading;
  private final BlockingQueue<EntryMessage.Item> queue;
  private final Semaphore entriesAllowed = new Semaphore(MAX_ENTRIES_UNDER_WAY, true);
  private final Rates rates;
  private final Thread thread = new Thread(this::run, "isolde-oracle-sequencer");
  private volatile boolean isClosed;

  /**
   * @param maxQueued commands that wait for an entry; more are refused
   */
  Sequencer(
      RaftReplica replica,
      ReplicaHost host,
      Supplier<Leading> leading,
      int maxQueued,
      Rates rates) {
    this.replica = replica;
    this.host = host;
    this.leading = leading;
    this.queue = new ArrayBlockingQueue<>(maxQueued);
    this.rates = rates;
    thread.setDaemon(true);
    thread.start();
  }

  /** Takes a command; false if too many wait. */
  boolean offer(EntryMessage.Item item) {
    return queue.offer(item);
  }

  /**
   * Waits until no entry is under way, and proposes none until {@link #goOn}. An heir whose log is
   * behind by an entry loses its election, and nobody leads until the time-out.
   *
   * @return false if entries did not come to an end in time; then nothing is held
   */
  boolean hold() throws InterruptedException {
    return entriesAllowed.tryAcquire(MAX_ENTRIES_UNDER_WAY, HOLD_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Ends {@link #hold}. */
  void goOn() {
    entriesAllowed.release(MAX_ENTRIES_UNDER_WAY);
  }

  /** Proposes the first entry of a leader, past the queue. */
  void propose(EntryMessage first) {
    entriesAllowed.acquireUninterruptibly();
    send(first);
  }

  int queued() {
    return queue.size();
  }

  private void run() {
    List<EntryMessage.Item> items = new ArrayList<>(MAX_COMMANDS_PER_ENTRY);
    while (!isClosed) {
      try {
        items.add(queue.take());
        entriesAllowed.acquire();
        queue.drainTo(items, MAX_COMMANDS_PER_ENTRY - items.size());
        propose(List.copyOf(items));
      } catch (InterruptedException e) {
        isClosed = true;
      } catch (RuntimeException e) {
        log.error("An entry of {} commands failed", items.size(), e);
      } finally {
        items.clear();
      }
    }
  }

  private void propose(List<EntryMessage.Item> items) {
    var message = host.entry(items);
    if (message.isEmpty()) {
      entriesAllowed.release();
      refuse(items);
      return;
    }
    rates.entry(items.size());
    send(message.get());
  }

  private void send(EntryMessage message) {
    var unused =
        replica
            .propose(message)
            .whenComplete(
                (result, error) -> {
                  entriesAllowed.release();
                  if (error != null) {
                    failed(message, error);
                  }
                });
  }

  private void failed(EntryMessage message, Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
    boolean isUnknown = cause instanceof RaftFailure failure && failure.isOutcomeUnknown();
    log.debug("An entry of {} commands was not applied here", message.items().size(), cause);
    if (!isUnknown) {
      host.dropped(message);
    }
    // Also when it is unknown: the commands can be sent again, and get the same answer then.
    refuse(message.items());
  }

  private void refuse(List<EntryMessage.Item> items) {
    Leading now = leading.get();
    for (EntryMessage.Item item : items) {
      if (item.request() != null) {
        item.request().notLeader(now);
      }
    }
  }

  @Override
  public void close() {
    isClosed = true;
    thread.interrupt();
  }
}
