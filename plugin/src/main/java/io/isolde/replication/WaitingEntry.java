// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import com.google.common.base.Throwables;
import io.isolde.raft.transport.LogLimit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.apache.cassandra.io.FSError;
import org.apache.cassandra.io.sstable.CorruptSSTableException;
import org.apache.cassandra.utils.JVMStabilityInspector;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The entry of a group's log that comes next, while it can't be applied. There is no giving up,
 * since the log is the only other place where its writes are. It ends when the keyspace is dropped
 * or this replica stops.
 */
final class WaitingEntry {
  private static final Logger logger = LoggerFactory.getLogger(WaitingEntry.class);
  private static final LogLimit logLimit = new LogLimit();
  private static final long LOOK_MILLIS = 20;

  private final String keyspace;
  private final BooleanSupplier isInSchema;

  /** Null unless the entry that comes next waits. */
  private volatile String problem;

  private volatile boolean isStopped;

  /**
   * None waits yet.
   *
   * @param isInSchema whether the keyspace is not dropped; another one of its name may be there
   */
  WaitingEntry(String keyspace, BooleanSupplier isInSchema) {
    this.keyspace = keyspace;
    this.isInSchema = isInSchema;
  }

  /** Why it waits; empty if all is well. */
  Optional<String> problem() {
    return Optional.ofNullable(problem);
  }

  void waitsBecause(String why) {
    problem = why;
  }

  /** It can be applied. */
  void isDone() {
    problem = null;
  }

  /** The replica stops: whoever waits ends with an exception. */
  void stop() {
    isStopped = true;
  }

  /** The replica starts, perhaps once more. */
  void start() {
    isStopped = false;
    problem = null;
  }

  /**
   * Waits a moment.
   *
   * @throws IllegalStateException if this replica stops
   */
  void pause(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (!isStopped && System.nanoTime() - end < 0) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(Math.min(millis, LOOK_MILLIS)));
    }
    if (isStopped) {
      throw new IllegalStateException("This replica stops; the log has what it did not apply.");
    }
  }

  /** Tries until it works, or there is no such keyspace any more. */
  void untilDone(String what, long pauseMillis, Runnable attempt) {
    while (isInSchema.getAsBoolean()) {
      Throwable failure;
      try {
        attempt.run();
        isDone();
        return;
      } catch (RuntimeException | AssertionError | FSError e) { // The second if a table goes.
        failure = e;
      }
      problem = what + " in the log can't be applied and is tried again: " + failure;
      complain(what, failure);
      pause(pauseMillis);
    }
    isDone();
  }

  /** Once a minute for each failure. */
  private void complain(String what, Throwable failure) {
    if (logLimit.allows(List.of(keyspace, what, failure.toString()))) {
      logger.error(
          "{} in the log of a replica group of {} can't be applied. It is tried again until it can,"
              + " and meanwhile another member leads the group if there is one",
          what,
          keyspace,
          failure);
      handToDiskFailurePolicy(failure);
    }
  }

  /** As Cassandra does with what fails in its own threads; the node may die of it. */
  static void handToDiskFailurePolicy(Throwable failure) {
    Throwables.getCausalChain(failure).stream()
        .filter(cause -> cause instanceof FSError || cause instanceof CorruptSSTableException)
        .findFirst()
        .ifPresent(JVMStabilityInspector::inspectThrowable);
  }
}
