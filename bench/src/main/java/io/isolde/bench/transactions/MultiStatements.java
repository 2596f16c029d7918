// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.transactions;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.RowTable;
import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/** Units of several statements, one after the other: each on its own, or all in a transaction. */
public final class MultiStatements {
  private static final int UPDATES = 10;

  /** Executes the statements of a unit. */
  private record Executor(
      Function<BoundStatement, CompletionStage<?>> read,
      Function<BoundStatement, CompletionStage<?>> write) {}

  /** Runs a unit, with what executes its statements. */
  private interface Runner {
    CompletionStage<?> run(Function<Executor, CompletionStage<?>> unit);
  }

  private final RowTable table;
  private final Runner runner;

  private MultiStatements(RowTable table, Runner runner) {
    this.table = table;
    this.runner = runner;
  }

  static MultiStatements plain(CqlSession session, RowTable table) {
    Executor executor = new Executor(session::executeAsync, session::executeAsync);
    return new MultiStatements(table, unit -> unit.apply(executor));
  }

  /**
   * Serializable ones, which are run again after a conflict. Their writes go together, with COMMIT.
   */
  public static MultiStatements transactions(CqlSession session, RowTable table) {
    return transactions(session, table, tx -> new Executor(tx::executeAsync, tx::writeAsync));
  }

  /** As {@link #transactions}, with a request for each statement, and one for COMMIT. */
  static MultiStatements oneByOne(CqlSession session, RowTable table) {
    return transactions(session, table, tx -> new Executor(tx::executeAsync, tx::executeAsync));
  }

  private static MultiStatements transactions(
      CqlSession session, RowTable table, Function<Transaction, Executor> executor) {
    Isolde isolde = Isolde.on(session);
    return new MultiStatements(
        table,
        unit ->
            isolde.runAsync(tx -> unit.apply(executor.apply(tx)).thenApply(done -> (Object) null)));
  }

  /** Ten rows are written. */
  public Workload tenUpdates() {
    return () ->
        sequentially(
            executor ->
                Collections.nCopies(
                    UPDATES, () -> executor.write.apply(table.update(table.anyRow()))));
  }

  /** As many different rows are written as told. */
  Workload updates(int count) {
    return () -> {
      long first = table.anyRow();
      return sequentially(
          executor ->
              LongStream.range(0, count)
                  .<Supplier<CompletionStage<?>>>mapToObj(
                      i -> () -> executor.write.apply(table.update(table.rowAfter(first, i))))
                  .toList());
    };
  }

  /** Two rows are read, then the two are written. */
  public Workload transfer() {
    return () -> {
      long from = table.anyRow();
      long to = table.rowOtherThan(from);
      return sequentially(
          executor ->
              List.of(
                  () -> executor.read.apply(table.read(from)),
                  () -> executor.read.apply(table.read(to)),
                  () -> executor.write.apply(table.update(from)),
                  () -> executor.write.apply(table.update(to))));
    };
  }

  private CompletionStage<?> sequentially(
      Function<Executor, List<Supplier<CompletionStage<?>>>> statements) {
    return runner.run(
        executor -> {
          CompletionStage<?> last = CompletableFuture.completedFuture(null);
          for (Supplier<CompletionStage<?>> statement : statements.apply(executor)) {
            last = last.thenCompose(done -> statement.get());
          }
          return last;
        });
  }
}
