// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.peers;

import com.scalar.db.api.DistributedTransaction;
import com.scalar.db.api.DistributedTransactionManager;
import com.scalar.db.api.Get;
import com.scalar.db.api.Update;
import com.scalar.db.api.Upsert;
import com.scalar.db.exception.transaction.CommitConflictException;
import com.scalar.db.exception.transaction.CrudConflictException;
import com.scalar.db.exception.transaction.RollbackException;
import com.scalar.db.exception.transaction.TransactionException;
import com.scalar.db.io.Key;
import io.isolde.bench.kit.Pause;
import io.isolde.cluster.ToolException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/** Transactions of ScalarDB, which are run again after a conflict. Thread-safe. */
final class ScalarDbTransfers {
  static final String NAMESPACE = "scalardb_bench";
  static final String TABLE = "rows";
  static final String KEY = "p";
  static final String VALUE = "v";

  private static final int ROWS_A_TRANSACTION = 20;
  private static final int MAX_ATTEMPTS = 100;
  private static final int MAX_LOADING_ATTEMPTS = 10;
  private static final int LOADING_PAUSE_MILLIS = 500;
  private static final int MAX_PAUSE_MILLIS = 20;

  private final DistributedTransactionManager manager;
  private final int rows;
  private final byte[] value;

  /** What a transaction does before it is committed. */
  private interface Body {
    void run(DistributedTransaction transaction) throws TransactionException;
  }

  ScalarDbTransfers(DistributedTransactionManager manager, int rows, int rowBytes) {
    this.manager = manager;
    this.rows = rows;
    this.value = new byte[rowBytes];
    ThreadLocalRandom.current().nextBytes(value);
  }

  /**
   * Writes all rows, and returns how many. Nodes that have just started may not keep up; what they
   * fail to do is done again.
   */
  int load(Executor threads) {
    int transactions = (rows + ROWS_A_TRANSACTION - 1) / ROWS_A_TRANSACTION;
    CompletableFuture.allOf(
            IntStream.range(0, transactions)
                .mapToObj(i -> CompletableFuture.runAsync(() -> upsert(i), threads))
                .toArray(CompletableFuture[]::new))
        .join();
    return rows;
  }

  private void upsert(int transaction) {
    int first = transaction * ROWS_A_TRANSACTION;
    Body body =
        tx -> {
          for (int row = first; row < Math.min(rows, first + ROWS_A_TRANSACTION); row++) {
            tx.upsert(
                Upsert.newBuilder()
                    .namespace(NAMESPACE)
                    .table(TABLE)
                    .partitionKey(key(row))
                    .blobValue(VALUE, value)
                    .build());
          }
        };
    for (int attempt = 1; ; attempt++) {
      try {
        attempt(body);
        return;
      } catch (TransactionException e) {
        if (attempt == MAX_LOADING_ATTEMPTS) {
          throw new ToolException("ScalarDB can't load rows: " + e.getMessage(), e);
        }
        Pause.millis(LOADING_PAUSE_MILLIS);
      }
    }
  }

  /** Two rows are read, then the two are written. */
  void transfer() {
    long from = ThreadLocalRandom.current().nextInt(rows);
    long to = (from + 1 + ThreadLocalRandom.current().nextInt(Math.max(1, rows - 1))) % rows;
    List<Key> keys = List.of(key(from), key(to));
    commit(
        tx -> {
          for (Key key : keys) {
            Get get = Get.newBuilder().namespace(NAMESPACE).table(TABLE).partitionKey(key).build();
            if (tx.get(get).isEmpty()) {
              throw new ToolException("ScalarDB did not find the row " + key + ".");
            }
          }
          for (Key key : keys) {
            tx.update(
                Update.newBuilder()
                    .namespace(NAMESPACE)
                    .table(TABLE)
                    .partitionKey(key)
                    .blobValue(VALUE, value)
                    .build());
          }
        });
  }

  private void commit(Body body) {
    for (int attempt = 1; ; attempt++) {
      try {
        attempt(body);
        return;
      } catch (CrudConflictException | CommitConflictException e) {
        if (attempt == MAX_ATTEMPTS) {
          throw new ToolException(
              "ScalarDB had a conflict in each of %d attempts.".formatted(attempt), e);
        }
        Pause.millis(ThreadLocalRandom.current().nextInt(1, MAX_PAUSE_MILLIS));
      } catch (TransactionException e) {
        throw new ToolException("ScalarDB failed: " + e.getMessage(), e);
      }
    }
  }

  private void attempt(Body body) throws TransactionException {
    DistributedTransaction transaction = manager.start();
    try {
      body.run(transaction);
    } catch (TransactionException | RuntimeException e) {
      rollBack(transaction, e);
      throw e;
    }
    transaction.commit(); // It rolls back itself if it can't.
  }

  private static void rollBack(DistributedTransaction transaction, Exception cause) {
    try {
      transaction.rollback();
    } catch (RollbackException e) {
      cause.addSuppressed(e);
    }
  }

  private static Key key(long row) {
    return Key.ofBigInt(KEY, row);
  }
}
