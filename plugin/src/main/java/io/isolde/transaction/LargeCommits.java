// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.apply.WriteSetCodec;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.oracle.replica.Command;
import io.isolde.replicated.Oracle;
import java.util.Collection;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/**
 * Brings the writes of large commits into the oracle's log before the decision, part after part:
 * between two parts others get in. So the entry with the decision is small.
 */
final class LargeCommits {
  /** From here on a commit is large: below, one entry takes less time than parts do. */
  static final long LARGE_BYTES = 1 << 20;

  private static final int PART_BYTES = 256 << 10;

  /** On a node. More would only keep more memory of the oracle's members. */
  private static final int MAX_AT_ONCE = 2;

  private static final int MAX_WAITING = 16;
  private static final int IDLE_SECONDS = 10;

  /** While the oracle's members have no room. */
  private static final long PAUSE_MILLIS = 100;

  private static final Executor STAGING = staging();

  private final Oracle oracle;

  LargeCommits(Oracle oracle) {
    this.oracle = oracle;
  }

  private static Executor staging() {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            MAX_AT_ONCE,
            MAX_AT_ONCE,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MAX_WAITING),
            new ThreadFactoryBuilder().setNameFormat("IsoldeLarge-%d").setDaemon(true).build());
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /**
   * Stages all that a transaction writes.
   *
   * @param timeoutMillis from now on, also for others that are before it
   * @param check of what may have changed meanwhile; may refuse the commit
   * @return fails with {@link IsoldeException}: ORACLE_OVERLOADED if it is not done in time,
   *     TRANSACTION_TOO_LARGE. Then nothing is committed, and nothing is left with the oracle
   */
  CompletableFuture<Command.Staged> stage(
      Collection<PartitionUpdate> updates, long timeoutMillis, Runnable check) {
    long deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    try {
      return CompletableFuture.supplyAsync(() -> stageAll(updates, deadlineNanos, check), STAGING);
    } catch (RejectedExecutionException e) {
      throw overloaded("Too many large commits wait on this node");
    }
  }

  private Command.Staged stageAll(
      Collection<PartitionUpdate> updates, long deadlineNanos, Runnable check) {
    UUID staging = UUID.randomUUID();
    int totalBytes = Math.toIntExact(WriteSetCodec.encodedBytes(updates));
    int[] count = {0};
    try {
      WriteSetCodec.encode(
          updates,
          PART_BYTES,
          part -> stageInTime(staging, count[0]++, totalBytes, part, deadlineNanos));
      check.run();
      return new Command.Staged(staging, count[0]);
    } catch (RuntimeException | Error e) {
      giveUp(staging);
      throw e;
    }
  }

  /** Waits for room with the first part; that is room for all. */
  private void stageInTime(
      UUID staging, int number, int totalBytes, byte[] part, long deadlineNanos) {
    while (System.nanoTime() - deadlineNanos < 0) {
      try {
        stage(staging, number, totalBytes, part);
        return;
      } catch (IsoldeException e) {
        if (e.errorCode() != ErrorCode.ORACLE_OVERLOADED) {
          throw e;
        }
      }
      pause();
    }
    throw overloaded("The oracle's members had no room for a large commit in time");
  }

  private static IsoldeException overloaded(String why) {
    return IsoldeException.of(
        ErrorCode.ORACLE_OVERLOADED, why + "; nothing was committed, try again.");
  }

  private void stage(UUID staging, int number, int totalBytes, byte[] part) {
    try {
      oracle.stage(staging, number, totalBytes, part).get();
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException known) {
        throw known;
      }
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  /** Runs something when the decision may be asked for again, on a thread that may wait. */
  static CompletableFuture<Void> afterPause(Runnable task) {
    return CompletableFuture.runAsync(
        task, CompletableFuture.delayedExecutor(PAUSE_MILLIS, TimeUnit.MILLISECONDS));
  }

  /** No commit will take what is staged: others get the room. Does not wait. */
  void giveUp(UUID staging) {
    oracle.unstage(staging);
  }
}
