// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static java.util.stream.Collectors.toSet;

import io.isolde.raft.RaftReplica;
import io.isolde.raft.transport.PeerConnection;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives start timestamps. Each must be at or above all that was visible when it was asked for. So
 * the member makes sure that it still leads after that; once for all that came meanwhile.
 */
final class StartTimestampBatcher implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(StartTimestampBatcher.class);
  private static final int MAX_TOGETHER = 4096;

  /** Who asks; for a transaction that may be decided already, or null. */
  private record Item(Request request, UUID transactionId) {}

  /** Longer than an election; then the asker is told to look elsewhere. */
  private static final long BARRIER_MILLIS = 3000;

  private final RaftReplica replica;
  private final ReplicaHost host;
  private final Supplier<Leading> leading;
  private final BlockingQueue<Item> queue;
  private final Rates rates;
  private final Thread thread = new Thread(this::run, "isolde-oracle-begin");
  private volatile boolean isClosed;

  StartTimestampBatcher(
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

  /**
   * Takes a request; false if too many wait.
   *
   * @param transactionId that must not be decided; null if there is nothing to look for
   */
  boolean offer(Request request, UUID transactionId) {
    boolean isTaken = queue.offer(new Item(request, transactionId));
    if (isTaken && isClosed) {
      refuseQueue();
    }
    return isTaken;
  }

  /**
   * A start timestamp at once, where it takes no question to the others that this member leads, and
   * nothing is waited for. What this member has said to be visible or decided, it has applied, and
   * what an earlier leader has said, before it served.
   *
   * @param transactionId as for {@link #offer}
   * @return {@link Protocol#DECIDED} if it is; empty if {@link #offer} may tell
   */
  Optional<Stable> now(UUID transactionId) {
    Optional<Stable> start = replica.leadsForSure() ? host.startTimestamp() : Optional.empty();
    start.ifPresent(now -> rates.starts(1));
    boolean isDecided =
        start.isPresent() && transactionId != null && host.outcome(transactionId).isPresent();
    return isDecided ? start.map(StartTimestampBatcher::decided) : start;
  }

  private static Stable decided(Stable start) {
    return new Stable(Protocol.DECIDED, start.epoch());
  }

  private void run() {
    List<Item> together = new ArrayList<>();
    while (!isClosed) {
      try {
        together.add(queue.take());
        queue.drainTo(together, MAX_TOGETHER - 1);
        answer(together, newest());
      } catch (InterruptedException e) {
        isClosed = true;
        answer(together, Optional.empty());
      } catch (RuntimeException | Error e) {
        // Without this thread the member would lead, and nobody could begin.
        log.error("Some of {} transactions were told no start timestamp", together.size(), e);
      } finally {
        together.clear();
      }
    }
    refuseQueue();
  }

  private void refuseQueue() {
    List<Item> left = new ArrayList<>();
    queue.drainTo(left);
    answer(left, Optional.empty());
  }

  /** Empty if this member can't tell; then who asks looks elsewhere. */
  private Optional<Stable> newest() throws InterruptedException {
    try {
      // Whoever asks meanwhile waits here; nobody else could tell either.
      boolean leads = hasLease();
      while (leads && !host.awaitCaughtUp(BARRIER_MILLIS)) {
        leads = hasLease();
      }
      return leads ? host.startTimestamp() : Optional.empty();
    } catch (RuntimeException | Error e) {
      log.error("The newest snapshot is not known", e);
      return Optional.empty();
    }
  }

  private boolean hasLease() throws InterruptedException {
    try {
      var unused = replica.barrier().get(BARRIER_MILLIS, TimeUnit.MILLISECONDS);
      return true;
    } catch (ExecutionException | TimeoutException | RuntimeException notLeading) {
      log.debug("Can't tell whether this member leads", notLeading);
      return false;
    }
  }

  private void answer(List<Item> together, Optional<Stable> startTimestamp) {
    if (startTimestamp.isEmpty()) {
      Leading now = leading.get();
      together.forEach(item -> item.request.notLeader(now));
      return;
    }
    rates.starts(together.size());
    Set<UUID> decided = decided(together);
    Set<PeerConnection> connections = new HashSet<>();
    for (Item item : together) {
      boolean isDecided = item.transactionId != null && decided.contains(item.transactionId);
      Stable start = startTimestamp.get();
      item.request.write(isDecided ? decided(start) : start);
      connections.add(item.request.connection());
    }
    connections.forEach(PeerConnection::flush);
  }

  private Set<UUID> decided(List<Item> together) {
    List<UUID> asked = together.stream().map(Item::transactionId).filter(Objects::nonNull).toList();
    return asked.isEmpty()
        ? Set.of()
        : host.look(
            copy -> asked.stream().filter(id -> copy.outcome(id).isPresent()).collect(toSet()));
  }

  @Override
  public void close() {
    isClosed = true;
    thread.interrupt();
  }
}
