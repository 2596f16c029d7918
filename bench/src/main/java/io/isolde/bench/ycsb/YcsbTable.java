// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.ycsb;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import io.isolde.client.Isolde;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import site.ycsb.workloads.CoreWorkload;

/**
 * A table that YCSB's workloads run on, with a thread for every request in flight, as YCSB has
 * them. Thread-safe.
 */
public final class YcsbTable implements AutoCloseable {
  private final String name;
  private final int rows;
  private final int rowBytes;
  private final ExecutorService threads;
  private final ThreadLocal<Binding> binding;

  private YcsbTable(
      CqlSession session,
      String name,
      int rows,
      int rowBytes,
      int inFlight,
      Consumer<List<BoundStatement>> together) {
    this.name = name;
    this.rows = rows;
    this.rowBytes = rowBytes;
    // What waits for a thread is bounded by who sends: as many as there are threads.
    this.threads =
        Executors.newFixedThreadPool(
            inFlight,
            task -> {
              Thread thread = new Thread(task, "ycsb");
              thread.setDaemon(true);
              return thread;
            });
    CqlRows cql = new CqlRows(session, name, together);
    this.binding = ThreadLocal.withInitial(() -> new Binding(cql));
  }

  /**
   * Opens a table that was created.
   *
   * @param name with its keyspace
   * @param rowBytes of the fields of a row together
   * @param inFlight the most requests at a time
   * @param isTransactional whether updates of several rows are one transaction, else each is on its
   *     own, one after the other
   */
  public static YcsbTable open(
      CqlSession session,
      String name,
      int rows,
      int rowBytes,
      int inFlight,
      boolean isTransactional) {
    Isolde isolde = Isolde.on(session);
    Consumer<List<BoundStatement>> inTransaction =
        updates -> isolde.runVoid(tx -> updates.forEach(tx::write));
    return new YcsbTable(
        session,
        name,
        rows,
        rowBytes,
        inFlight,
        isTransactional ? inTransaction : updates -> updates.forEach(session::execute));
  }

  /** Returns the statement that creates the table. */
  public static String createStatement(String name) {
    return CqlRows.createStatement(name);
  }

  /** Inserts all rows. */
  public void load() {
    CoreWorkload workload = Mix.all().get(0).workload(name, rows, rowBytes);
    CompletableFuture.allOf(
            IntStream.range(0, rows)
                .mapToObj(row -> onThread(b -> workload.doInsert(b, null)))
                .toArray(CompletableFuture[]::new))
        .join();
  }

  /** Returns what sends one operation of a mix, chosen by YCSB. */
  public Supplier<CompletionStage<?>> operations(Mix mix) {
    CoreWorkload workload = mix.workload(name, rows, rowBytes);
    return () -> onThread(b -> workload.doTransaction(b, null));
  }

  private CompletableFuture<?> onThread(Consumer<Binding> step) {
    return CompletableFuture.runAsync(() -> step.accept(binding.get()), threads);
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
