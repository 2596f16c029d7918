// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.ycsb;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Workload;
import io.isolde.client.Isolde;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import site.ycsb.workloads.CoreWorkload;

/**
 * A table that YCSB's workloads run on, with a thread for every request in flight, as YCSB has
 * them. Thread-safe.
 */
final class YcsbTable implements AutoCloseable {
  private final String name;
  private final BenchOptions options;
  private final ExecutorService threads;
  private final ThreadLocal<YcsbDb> binding;

  /**
   * Opens a table that was created.
   *
   * @param name with its keyspace
   * @param isTransactional whether updates of several rows are one transaction, else each is on its
   *     own, one after the other
   */
  YcsbTable(CqlSession session, String name, BenchOptions options, boolean isTransactional) {
    this.name = name;
    this.options = options;
    // What waits for a thread is bounded by who sends: as many as there are threads.
    this.threads = Executors.newFixedThreadPool(options.inFlight(), YcsbTable::daemon);
    Isolde isolde = Isolde.on(session);
    Consumer<List<BoundStatement>> inTransaction =
        updates -> isolde.runVoid(tx -> updates.forEach(tx::write));
    Consumer<List<BoundStatement>> oneByOne = updates -> updates.forEach(session::execute);
    CqlRows cql = new CqlRows(session, name, isTransactional ? inTransaction : oneByOne);
    this.binding = ThreadLocal.withInitial(() -> new YcsbDb(cql));
  }

  private static Thread daemon(Runnable task) {
    Thread thread = new Thread(task, "ycsb");
    thread.setDaemon(true);
    return thread;
  }

  /** Inserts all rows. */
  void load() {
    CoreWorkload workload = Mix.all().get(0).workload(name, options.rows(), options.rowBytes());
    CompletableFuture.allOf(
            IntStream.range(0, options.rows())
                .mapToObj(row -> onThread(b -> workload.doInsert(b, null)))
                .toArray(CompletableFuture[]::new))
        .join();
  }

  /** Operations of a mix, chosen by YCSB. */
  Workload operations(Mix mix) {
    CoreWorkload workload = mix.workload(name, options.rows(), options.rowBytes());
    return () -> onThread(b -> workload.doTransaction(b, null));
  }

  private CompletableFuture<?> onThread(Consumer<YcsbDb> step) {
    return CompletableFuture.runAsync(() -> step.accept(binding.get()), threads);
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
