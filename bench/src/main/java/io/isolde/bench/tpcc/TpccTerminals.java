// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.tpcc;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.bench.kit.Workload;
import io.isolde.client.IsolationLevel;
import io.isolde.client.Isolde;
import io.isolde.client.TransactionOptions;
import io.isolde.cluster.ToolException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;

/** Clients that work on the tables of TPC-C in one keyspace, a thread each. */
final class TpccTerminals implements Workload, AutoCloseable {
  private static final int LOADED_AT_ONCE = 100;
  private static final long SEED = 1;

  private final CqlSession session;
  private final CqlStore.Statements statements;
  private final CqlStore plain;
  private final Isolde isolde;
  private final Optional<IsolationLevel> level;
  private final Set<Table> locked;
  private final Scale scale;
  private final ExecutorService threads;
  private final AtomicLong lastSeed = new AtomicLong(SEED);
  private final ThreadLocal<TransactionMix> mix;
  private final LongAdder attempts = new LongAdder();
  private final LongAdder transactions = new LongAdder();

  /**
   * @param level of the transactions; empty for statements without any
   * @param locked tables whose rows transactions lock that many of them change
   */
  TpccTerminals(
      CqlSession session,
      String keyspace,
      Optional<IsolationLevel> level,
      Set<Table> locked,
      Scale scale,
      int inFlight) {
    this.session = session;
    this.statements = new CqlStore.Statements(session, keyspace);
    this.plain = statements.executedBy(session::execute, session::execute);
    this.isolde = Isolde.on(session);
    this.level = level;
    this.locked = locked;
    this.scale = scale;
    // What waits for a thread is bounded by who sends: as many as there are threads.
    this.threads = Executors.newFixedThreadPool(inFlight);
    this.mix =
        ThreadLocal.withInitial(
            () -> new TransactionMix(scale, new Chooser(lastSeed.incrementAndGet())));
  }

  /** Writes the initial data. */
  void load() {
    Semaphore free = new Semaphore(LOADED_AT_ONCE);
    AtomicReference<Throwable> failure = new AtomicReference<>();
    InitialData.write(
        scale,
        SEED,
        (table, columns, key) -> {
          free.acquireUninterruptibly();
          var unused =
              session
                  .executeAsync(statements.put(table, columns, key))
                  .whenComplete(
                      (done, error) -> {
                        failure.compareAndSet(null, error);
                        free.release();
                      });
        });
    free.acquireUninterruptibly(LOADED_AT_ONCE);
    if (failure.get() != null) {
      throw new ToolException("TPC-C's data can't be loaded: " + failure.get(), failure.get());
    }
  }

  /** One of the mix, which may be several transactions. */
  @Override
  public CompletionStage<?> send() {
    return CompletableFuture.runAsync(
        () -> mix.get().next(System.currentTimeMillis()).forEach(this::run), threads);
  }

  private void run(Work work) {
    transactions.increment();
    try {
      if (level.isEmpty()) {
        attempts.increment();
        work.run(plain);
      } else {
        runIsolated(work, level.get());
      }
    } catch (Work.UnusedItemException asTheStandardWants) {
      // The transaction is rolled back; without one nothing was written yet.
    }
  }

  private void runIsolated(Work work, IsolationLevel isolation) {
    isolde.runVoid(
        TransactionOptions.builder().isolationLevel(isolation).readOnly(work.isReadOnly()).build(),
        tx -> {
          attempts.increment();
          work.run(statements.lockedBy(locked, tx::execute, tx::write));
        });
  }

  /** Returns what TPC-C's conditions say. Nothing may be under way. */
  List<Consistency.Violation> violations() {
    return Consistency.violations(plain, scale);
  }

  double attemptsPerTransaction() {
    return (double) attempts.sum() / Math.max(1, transactions.sum());
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
