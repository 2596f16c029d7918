// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import io.isolde.client.IsolationLevel;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Clients move money between accounts while others count it: there is always the same amount. */
class BankTest extends Scenario {

  private static final int ACCOUNTS = 10;
  private static final int INITIAL = 100;
  private static final int CLIENTS = 3;
  private static final int TRANSFERS = 40;

  private final String table = node.table("id int PRIMARY KEY, balance int");
  private final PreparedStatement get =
      node.session().prepare("SELECT balance FROM %s WHERE id = ?".formatted(table));
  private final PreparedStatement set =
      node.session().prepare("UPDATE %s SET balance = ? WHERE id = ?".formatted(table));

  @ParameterizedTest
  @EnumSource
  void whenMoneyMovesThenTheSumStays(IsolationLevel level) throws Exception {
    for (int id = 0; id < ACCOUNTS; id++) {
      execute("INSERT INTO %s (id, balance) VALUES (%d, %d)".formatted(table, id, INITIAL));
    }
    AtomicInteger working = new AtomicInteger(CLIENTS);
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS + 1);
    try {
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (int client = 0; client < CLIENTS; client++) {
        Random random = new Random(client);
        all.add(
            CompletableFuture.runAsync(() -> transfer(level, random), clients)
                .whenComplete((done, error) -> working.decrementAndGet()));
      }
      all.add(CompletableFuture.runAsync(() -> countWhile(working), clients));
      CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get();
    } finally {
      clients.shutdownNow();
    }
    assertThat(sum(read("SELECT balance FROM " + table))).isEqualTo(ACCOUNTS * INITIAL);
  }

  private void transfer(IsolationLevel level, Random random) {
    TransactionOptions options =
        TransactionOptions.builder()
            .isolationLevel(level)
            .maxAttempts(200)
            .timeLimit(Duration.ofMinutes(1))
            .build();
    for (int i = 0; i < TRANSFERS; i++) {
      int from = random.nextInt(ACCOUNTS);
      int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
      int amount = 1 + random.nextInt(10);
      node.isolde()
          .runVoid(
              options,
              tx -> {
                int source = balance(tx, from);
                int target = balance(tx, to);
                if (source >= amount) {
                  tx.execute(set.bind(source - amount, from));
                  tx.execute(set.bind(target + amount, to));
                }
              });
    }
  }

  private int balance(Transaction transaction, int id) {
    return transaction.execute(get.bind(id)).one().getInt("balance");
  }

  private void countWhile(AtomicInteger working) {
    for (int round = 0; working.get() > 0 || round == 0; round++) {
      if (round % 20 == 10) {
        node.flushAndCompact(table);
      }
      List<String> balances =
          node.isolde()
              .run(TransactionOptions.reading(), tx -> read(tx, "SELECT balance FROM " + table));
      assertThat(sum(balances)).as("%s", balances).isEqualTo(ACCOUNTS * INITIAL);
      assertThat(balances).allMatch(balance -> Integer.parseInt(balance) >= 0);
      assertThat(sum(read("SELECT balance FROM " + table))).isEqualTo(ACCOUNTS * INITIAL);
    }
  }

  private static int sum(List<String> balances) {
    return balances.stream().mapToInt(Integer::parseInt).sum();
  }
}
