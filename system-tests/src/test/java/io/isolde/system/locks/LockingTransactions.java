// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.locks;

import io.isolde.client.IsolationLevel;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.BeforeEach;

/** Transactions that lock rows of a table, which has 1 to 4. */
abstract class LockingTransactions {
  static final SystemNode NODE = SystemNode.shared();
  static final String ROWS = NODE.table("id int PRIMARY KEY, v int");
  static final long PATIENCE_SECONDS = 120;
  private static final ExecutorService THREADS =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "locking");
            thread.setDaemon(true);
            return thread;
          });

  @BeforeEach
  void write() {
    for (int id = 1; id <= 4; id++) {
      NODE.session().execute("INSERT INTO %s (id, v) VALUES (%d, 0)".formatted(ROWS, id));
    }
  }

  static Transaction begin() {
    return NODE.isolde().begin();
  }

  static Transaction begin(IsolationLevel level) {
    return NODE.isolde().begin(TransactionOptions.builder().isolationLevel(level).build());
  }

  static List<String> rows(Transaction transaction, String cql) {
    return Results.lines(transaction.execute(cql));
  }

  static List<String> lock(Transaction transaction, int id, String how) {
    return rows(
        transaction, "SELECT v FROM %s WHERE id = %d FOR UPDATE %s".formatted(ROWS, id, how));
  }

  static void set(Transaction transaction, int id, int v) {
    transaction.execute("UPDATE %s SET v = %d WHERE id = %d".formatted(ROWS, v, id));
  }

  static <T> CompletableFuture<T> later(Callable<T> step) {
    CompletableFuture<T> done = new CompletableFuture<>();
    THREADS.execute(
        () -> {
          try {
            done.complete(step.call());
          } catch (Throwable e) {
            done.completeExceptionally(e);
          }
        });
    return done;
  }
}
