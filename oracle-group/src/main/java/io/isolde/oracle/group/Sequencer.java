// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.oracle.replica.Command;
import io.isolde.oracle.replica.OracleReplica;
import io.isolde.raft.GroupFailure;
import io.isolde.raft.RaftReplica;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
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

  private static final long HOLD_MILLIS = 1000;

  /** What became of an offer. */
  enum Offer {
    ACCEPTED,
    TOO_MANY,
    /** It would not fit into any entry. */
    TOO_LARGE
  }

  private final RaftReplica replica;
  private final ReplicaHost host;
  private final Supplier<Leading> leading;
  private final BlockingQueue<EntryMessage.Item> queue;

  /** The thread has taken one out already when it asks. */
  private final EntryPace.Waiting waiting;

  private final long maxQueuedBytes;
  private final int maxEntryBytes;
  private final long maxPendingWriteBytes;

  /** At most {@link #maxQueuedBytes}. */
  private final AtomicLong queuedBytes = new AtomicLong();

  private final EntryPace pace = new EntryPace();

  private final Rates rates;
  private final Thread thread = new Thread(this::run, "isolde-oracle-sequencer");
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
    this.queue = new ArrayBlockingQueue<>(config.maxQueued());
    this.waiting = () -> queue.size() + 1;
    this.maxQueuedBytes = config.raft().pendingBytes();
    this.maxEntryBytes = config.raft().appendBytes() / 4 * 3;
    this.maxPendingWriteBytes = config.maxPendingWriteBytes();
    this.rates = rates;
    thread.setDaemon(true);
    thread.start();
  }

  /** The largest command. The log takes no larger entry than one append. */
  int maxCommandBytes() {
    return maxEntryBytes;
  }

  /** Commands that wait for an entry. */
  int queued() {
    return queue.size();
  }

  /** Takes a command, or doesn't. */
  Offer offer(EntryMessage.Item item) {
    if (item.bytes() > maxEntryBytes) {
      return Offer.TOO_LARGE;
    }
    if (item.command() instanceof Command.Commit commit && !hasMemoryFor(commit)) {
      return Offer.TOO_MANY;
    }
    if (queuedBytes.addAndGet(item.heapBytes()) > maxQueuedBytes || !queue.offer(item)) {
      queuedBytes.addAndGet(-item.heapBytes());
      return Offer.TOO_MANY;
    }
    if (isClosed) {
      refuseQueue();
    }
    pace.arrived(waiting);
    return Offer.ACCEPTED;
  }

  /**
   * The writes stay in the memory of all members until they are applied, which a slow replica puts
   * off. One that is larger than what there is for all gets in when it is the only one.
   */
  private boolean hasMemoryFor(Command.Commit commit) {
    long pending = host.look(OracleReplica::pendingWriteBytes);
    return pending == 0 || pending + commit.writeSet().length <= maxPendingWriteBytes;
  }

  /**
   * Waits until no entry is under way, has the log know what is applied, and proposes nothing more
   * until {@link #goOn}. A transfer target whose log is behind by an entry loses its election, and
   * nobody leads until the time-out.
   *
   * @return false if entries did not come to an end in time; then nothing is held
   */
  boolean hold() throws InterruptedException {
    boolean isHeld = pace.hold(HOLD_MILLIS);
    if (isHeld) {
      logUnreported();
    }
    return isHeld;
  }

  /** Else the next leader would wait for the coordinators to tell it. */
  private void logUnreported() throws InterruptedException {
    Optional<EntryMessage> unreported = host.unreported();
    if (unreported.isEmpty()) {
      return;
    }
    try {
      var unused = replica.propose(unreported.get()).get(HOLD_MILLIS, TimeUnit.MILLISECONDS);
    } catch (ExecutionException | RuntimeException e) {
      failed(unreported.get(), e instanceof ExecutionException ? e.getCause() : e);
    } catch (TimeoutException e) {
      log.debug("What is applied was not logged in time; coordinators will tell the next leader");
    }
  }

  /** Ends {@link #hold}. */
  void goOn() {
    pace.goOn(0);
  }

  /**
   * This member leads. Waits until every entry of an earlier term is in the log or refused, which
   * Ratis sees to when it steps down; see {@link ReplicaHost#lead}.
   */
  void lead(long term) {
    pace.holdUninterruptibly();
    Optional<EntryMessage> first = Optional.empty();
    try {
      first = host.lead(term);
    } finally {
      pace.goOn(first.isPresent() ? 1 : 0);
    }
    first.ifPresent(this::send);
  }

  /** The log may have refused the first entry; to be called now and then. */
  void leadAgain() {
    if (!pace.tryPermit()) {
      return;
    }
    Optional<EntryMessage> first = Optional.empty();
    try {
      first = host.leadAgain();
    } finally {
      if (first.isEmpty()) {
        pace.ended();
      }
    }
    first.ifPresent(this::send);
  }

  private void run() {
    List<EntryMessage.Item> items = new ArrayList<>(MAX_COMMANDS_PER_ENTRY);
    while (!isClosed) {
      try {
        items.add(taken(queue.take()));
        pace.awaitPermit(waiting);
        fill(items);
        propose(List.copyOf(items));
      } catch (InterruptedException e) {
        isClosed = true;
        refuse(items);
      } finally {
        items.clear();
      }
    }
    refuseQueue();
  }

  private EntryMessage.Item taken(EntryMessage.Item item) {
    queuedBytes.addAndGet(-item.heapBytes());
    return item;
  }

  private void fill(List<EntryMessage.Item> items) {
    long bytes = items.get(0).bytes();
    while (items.size() < MAX_COMMANDS_PER_ENTRY) {
      EntryMessage.Item next = queue.peek();
      if (next == null || bytes + next.bytes() > maxEntryBytes) {
        return;
      }
      EntryMessage.Item polled = queue.poll();
      if (polled == null) {
        return; // It is being closed.
      }
      bytes += polled.bytes();
      items.add(taken(polled));
    }
  }

  private void propose(List<EntryMessage.Item> items) {
    Optional<EntryMessage> message = Optional.empty();
    try {
      message = host.entry(items);
    } catch (RuntimeException | Error e) {
      // Without this thread the member would lead, and decide nothing.
      log.error("No entry could be made of {} commands", items.size(), e);
    }
    if (message.isEmpty()) {
      pace.ended();
      refuse(items);
      return;
    }
    pace.proposed(items.size());
    rates.entry(items.size());
    send(message.get());
  }

  /** The caller has its turn, which ends when the entry is through. */
  private void send(EntryMessage message) {
    try {
      var unused =
          replica
              .propose(message)
              .whenComplete(
                  (result, error) -> {
                    pace.ended();
                    if (error != null) {
                      failed(message, error);
                    }
                  });
    } catch (RuntimeException e) {
      pace.ended();
      failed(message, e);
    }
  }

  private void failed(EntryMessage message, Throwable error) {
    Throwable cause = error instanceof CompletionException ? error.getCause() : error;
    log.debug("An entry of {} commands was not applied here", message.items().size(), cause);
    if (cause instanceof GroupFailure failure && !failure.reason().isOutcomeUnknown()) {
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

  private void refuseQueue() {
    List<EntryMessage.Item> left = new ArrayList<>();
    queue.drainTo(left);
    left.forEach(this::taken);
    refuse(left);
  }

  /** Whoever waits is told to look elsewhere. */
  @Override
  public void close() {
    isClosed = true;
    thread.interrupt();
  }
}
