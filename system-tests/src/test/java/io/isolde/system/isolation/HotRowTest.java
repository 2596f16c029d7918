// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A row that everybody wants: everybody gets it in the end, and nobody fights in vain. */
class HotRowTest extends Scenario {
  private static final int CLIENTS = 8;
  private static final int ADDITIONS = 25;
  private static final long PATIENCE_SECONDS = 120;

  private final String table = node.table("id int PRIMARY KEY, n int");

  @Test
  void whenManyAddToOneRowThenEachAdditionCountsOnce() throws Exception {
    execute("INSERT INTO %s (id, n) VALUES (1, 0)".formatted(table));
    TransactionOptions patient =
        TransactionOptions.builder()
            .maxAttempts(1_000)
            .timeLimit(Duration.ofSeconds(PATIENCE_SECONDS))
            .build();
    atOnce(() -> node.isolde().runVoid(patient, this::addOne));
    assertThat(read("SELECT n FROM " + table)).containsExactly("" + CLIENTS * ADDITIONS);
  }

  @Test
  void whenManyWriteOneRowBlindlyThenNobodyIsRefused() throws Exception {
    atOnce(() -> execute("UPDATE %s SET n = 5 WHERE id = 2".formatted(table)));
    assertThat(read("SELECT n FROM %s WHERE id = 2".formatted(table))).containsExactly("5");
  }

  private void addOne(Transaction transaction) {
    int n = transaction.execute("SELECT n FROM %s WHERE id = 1".formatted(table)).one().getInt("n");
    transaction.execute("UPDATE %s SET n = ? WHERE id = 1".formatted(table), n + 1);
  }

  private static void atOnce(Runnable addition) throws Exception {
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
    try {
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (int client = 0; client < CLIENTS; client++) {
        all.add(
            CompletableFuture.runAsync(
                () -> {
                  for (int i = 0; i < ADDITIONS; i++) {
                    addition.run();
                  }
                },
                clients));
      }
      for (CompletableFuture<Void> client : all) {
        client.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      }
    } finally {
      clients.shutdownNow();
    }
  }
}
