// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Moves money between accounts, while others add all of it up. */
final class BankWorkload implements CheckedWorkload {
  private static final int ACCOUNTS = 8;
  private static final int INITIAL = 100;

  private final int firstAccount;
  private final List<String> violations = Collections.synchronizedList(new ArrayList<>());

  BankWorkload(int firstAccount) {
    this.firstAccount = firstAccount;
  }

  @Override
  public List<String> tables() {
    return List.of(
        "CREATE TABLE IF NOT EXISTS torture.accounts (id int PRIMARY KEY, balance int)",
        "ENABLE TRANSACTIONS ON torture.accounts");
  }

  @Override
  public void prepare(Isolde isolde) {
    isolde.runVoid(
        tx -> {
          for (int i = 0; i < ACCOUNTS; i++) {
            set(tx, firstAccount + i, INITIAL);
          }
        });
  }

  @Override
  public void step(Isolde isolde, TransactionOptions options, Random random, Recorder recorder) {
    if (random.nextInt(4) == 0) {
      var unused = addUp(isolde, options.toBuilder().readOnly(true).build(), recorder);
      return;
    }
    int from = firstAccount + random.nextInt(ACCOUNTS);
    int to = firstAccount + random.nextInt(ACCOUNTS);
    var unused =
        recorder.run(
            isolde,
            options,
            (tx, done) -> {
              int amount = 1 + random.nextInt(5);
              set(tx, from, balance(tx, from) - amount);
              set(tx, to, balance(tx, to) + amount);
            });
  }

  private static int balance(Transaction tx, int account) {
    return tx.execute("SELECT balance FROM torture.accounts WHERE id = ?", account).one().getInt(0);
  }

  private static void set(Transaction tx, int account, int balance) {
    tx.write("INSERT INTO torture.accounts (id, balance) VALUES (?, ?)", account, balance);
  }

  private boolean addUp(Isolde isolde, TransactionOptions options, Recorder recorder) {
    return recorder.run(
        isolde,
        options,
        (tx, done) -> {
          int sum = 0;
          for (Row row : tx.execute("SELECT id, balance FROM torture.accounts")) {
            int account = row.getInt(0);
            sum += account >= firstAccount && account < firstAccount + ACCOUNTS ? row.getInt(1) : 0;
          }
          if (sum != ACCOUNTS * INITIAL) {
            violations.add("%s sees %d instead of %d".formatted(tx, sum, ACCOUNTS * INITIAL));
          }
        });
  }

  @Override
  public boolean readAll(Isolde isolde, TransactionOptions options, Recorder recorder) {
    return addUp(isolde, options.toBuilder().readOnly(true).build(), recorder);
  }

  @Override
  public List<String> violations(Recorder recorder) {
    return List.copyOf(violations);
  }

  @Override
  public String toString() {
    return "money moved between accounts";
  }
}
