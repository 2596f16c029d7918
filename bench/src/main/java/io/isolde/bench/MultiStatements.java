// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import io.isolde.client.Isolde;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;

/** Units of several statements, one after the other: each on its own, or all in a transaction. */
final class MultiStatements {
  private static final int UPDATES = 10;

  /** Runs a unit, with what executes its statements. */
  private interface Runner {
    CompletionStage<?> run(
        Function<Function<BoundStatement, CompletionStage<?>>, CompletionStage<?>> unit);
  }

  private final RowTable table;
  private final Runner runner;

  private MultiStatements(RowTable table, Runner runner) {
    this.table = table;
    this.runner = runner;
  }

  static MultiStatements plain(CqlSession session, RowTable table) {
    return new MultiStatements(table, unit -> unit.apply(session::executeAsync));
  }

  /** Serializable ones, which are run again after a conflict. */
  static MultiStatements transactions(CqlSession session, RowTable table) {
    Isolde isolde = Isolde.on(session);
    return new MultiStatements(
        table,
        unit ->
            isolde.runAsync(tx -> unit.apply(tx::executeAsync).thenApply(done -> (Object) null)));
  }

  Workload tenUpdates() {
    return () -> inTurn(Collections.nCopies(UPDATES, () -> table.update(table.anyRow())));
  }

  /** Two rows are read, then the two are written. */
  Workload transfer() {
    return () -> {
      long from = table.anyRow();
      long to = table.rowOtherThan(from);
      return inTurn(
          List.of(
              () -> table.read(from),
              () -> table.read(to),
              () -> table.update(from),
              () -> table.update(to)));
    };
  }

  private CompletionStage<?> inTurn(List<Supplier<BoundStatement>> statements) {
    return runner.run(
        execute -> {
          CompletionStage<?> last = CompletableFuture.completedFuture(null);
          for (Supplier<BoundStatement> statement : statements) {
            last = last.thenCompose(done -> execute.apply(statement.get()));
          }
          return last;
        });
  }
}
