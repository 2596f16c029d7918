// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import io.isolde.raft.RaftReplica;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives start timestamps. Each must be at or above all that was visible when it was asked for, so
 * the member makes sure that it still leads after that; once for all that came meanwhile.
 */
final class Begins implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(Begins.class);
  private static final int MAX_TOGETHER = 4096;

  /** Longer than an election; then the asker is told to look elsewhere. */
  private static final long BARRIER_MILLIS = 3000;

  private final RaftReplica replica;
  private final ReplicaHost host;
  private final Supplier<Leading> leading;
  private final BlockingQueue<Request> queue;
  private final Rates rates;
  private final Thread thread = new Thread(this::run, "isolde-oracle-begin");
  private volatile boolean isClosed;

  Begins(
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

  /** Takes a request; false if too many wait. */
  boolean offer(Request request) {
    boolean isTaken = queue.offer(request);
    if (isTaken && isClosed) {
      refuseQueue();
    }
    return isTaken;
  }

  private void run() {
    List<Request> together = new ArrayList<>();
    while (!isClosed) {
      try {
        together.add(queue.take());
        queue.drainTo(together, MAX_TOGETHER - 1);
        answer(together, hasLease() ? host.startTimestamp() : Optional.empty());
      } catch (InterruptedException e) {
        isClosed = true;
        answer(together, Optional.empty());
      } finally {
        together.clear();
      }
    }
    refuseQueue();
  }

  private void refuseQueue() {
    List<Request> left = new ArrayList<>();
    queue.drainTo(left);
    answer(left, Optional.empty());
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

  private void answer(List<Request> together, Optional<Long> startTimestamp) {
    if (startTimestamp.isEmpty()) {
      Leading now = leading.get();
      together.forEach(request -> request.notLeader(now));
      return;
    }
    rates.begins(together.size());
    Request.answerAll(together, startTimestamp.get());
  }

  @Override
  public void close() {
    isClosed = true;
    thread.interrupt();
  }
}
