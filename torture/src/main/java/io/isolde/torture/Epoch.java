// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import io.isolde.client.IsolationLevel;
import io.isolde.client.Isolde;
import io.isolde.client.TransactionOptions;
import io.isolde.cluster.ToolException;
import io.isolde.history.ObservedTransaction.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/** Half a minute of one workload at one level, with a few faults, and the judgement of it. */
final class Epoch {
  private static final int FAULTS = 3;
  private static final int MAX_CALM_MILLIS = 3_000;
  private static final int LEAST_FAULT_MILLIS = 1_000;
  private static final int MAX_FAULT_MILLIS = 8_000;

  /** A client that has met an error waits for this long before its next step. */
  private static final int AFTER_ERROR_MILLIS = 10;

  /** After the last fault everybody must get on again within this. */
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final int number;
  private final CheckedWorkload workload;
  private final IsolationLevel level;
  private final Isolde isolde;
  private final int clients;
  private final Recorder recorder = new Recorder();
  private final List<Fault> happened = new ArrayList<>();
  private final AtomicBoolean isOver = new AtomicBoolean();

  Epoch(int number, CheckedWorkload workload, IsolationLevel level, Isolde isolde, int clients) {
    this.number = number;
    this.workload = workload;
    this.level = level;
    this.isolde = isolde;
    this.clients = clients;
  }

  EpochResult run(Faults faults, Random random) {
    workload.prepare(isolde);
    ExecutorService threads = Executors.newFixedThreadPool(clients);
    try {
      List<CompletableFuture<Void>> running = new ArrayList<>();
      for (int client = 0; client < clients; client++) {
        Random ofClient = new Random(random.nextLong());
        running.add(CompletableFuture.runAsync(() -> stepUntilOver(ofClient), threads));
      }
      for (int i = 0; i < FAULTS; i++) {
        suffer(faults.next(random), random);
      }
      sleep(random.nextInt(MAX_CALM_MILLIS));
      isOver.set(true);
      await(CompletableFuture.allOf(running.toArray(CompletableFuture[]::new)));
    } finally {
      isOver.set(true);
      threads.shutdownNow();
    }
    return judged(readAll());
  }

  private void stepUntilOver(Random random) {
    while (!isOver.get()) {
      int errors = recorder.errorsOfThisThread();
      workload.step(isolde, options(), random, recorder);
      if (recorder.errorsOfThisThread() > errors) {
        sleep(AFTER_ERROR_MILLIS); // While no node is up, an error comes at once.
      }
    }
  }

  private TransactionOptions options() {
    return TransactionOptions.builder().isolationLevel(level).build();
  }

  private void suffer(Fault fault, Random random) {
    sleep(random.nextInt(MAX_CALM_MILLIS));
    happened.add(fault);
    fault.begin();
    try {
      sleep(LEAST_FAULT_MILLIS + random.nextInt(MAX_FAULT_MILLIS));
    } finally {
      fault.end();
    }
  }

  /** Tries until it works, since the cluster may still be busy with what has happened. */
  private boolean readAll() {
    long deadline = System.nanoTime() + PATIENCE.toNanos();
    while (!workload.readAll(isolde, options(), recorder)) {
      if (System.nanoTime() > deadline) {
        return false;
      }
      sleep(500);
    }
    return true;
  }

  private EpochResult judged(boolean isReadToTheEnd) {
    List<String> violations = new ArrayList<>(workload.violations(recorder));
    if (!isReadToTheEnd) {
      violations.add("Not all could be read within " + PATIENCE.toSeconds() + " s after the end.");
    }
    return new EpochResult(
        number,
        workload.toString(),
        level.name(),
        happened.stream().map(Fault::name).toList(),
        recorder.count(Outcome.COMMITTED),
        recorder.count(Outcome.ABORTED),
        recorder.count(Outcome.UNKNOWN),
        recorder.errors(),
        recorder.longestGapMillis(),
        isReadToTheEnd,
        violations);
  }

  private static void await(CompletableFuture<Void> all) {
    try {
      all.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new ToolException("A client failed in an unexpected way: " + e.getCause(), e);
    } catch (TimeoutException e) {
      throw new ToolException("A client hung for " + PATIENCE.toSeconds() + " s.", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException("It was interrupted.", e);
    }
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ToolException("It was interrupted.", e);
    }
  }
}
