// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/** Accounts in several partitions, whose sum must always be the same. */
final class DemoBank {
  /** More than the demo takes from the transfers to the look back, also on a slow machine. */
  static final String RETENTION = "5m";

  private static final int ACCOUNTS = 10;
  private static final long FIRST_BALANCE = 100;
  private static final long TOTAL = ACCOUNTS * FIRST_BALANCE;
  private static final long MAX_TRANSFERRED = 30;

  /** A busy row is fought over for as long as it takes. */
  private static final TransactionOptions PATIENT =
      TransactionOptions.builder().maxAttempts(1000).timeLimit(Duration.ofSeconds(30)).build();

  private final CqlSession session;
  private final DemoScript script;
  private final Isolde isolde;

  private final AtomicLong attempts = new AtomicLong();
  private final AtomicLong committed = new AtomicLong();
  private final AtomicLong sums = new AtomicLong();
  private final AtomicLong wrongSums = new AtomicLong();

  private long before;

  /** When the middle of the transfers was reached; written by the reader alone. */
  private volatile long meanwhile;

  DemoBank(CqlSession session, DemoScript script) {
    this.session = session;
    this.script = script;
    this.isolde = Isolde.on(session);
  }

  void create() {
    script.scene("Money is transferred, and none is ever lost");
    execute("CREATE TABLE demo.accounts (id int PRIMARY KEY, balance bigint)");
    execute("ENABLE TRANSACTIONS ON demo.accounts");
    isolde.runVoid(
        tx -> {
          for (int id = 0; id < ACCOUNTS; id++) {
            tx.execute("INSERT INTO demo.accounts (id, balance) VALUES (?, ?)", id, FIRST_BALANCE);
          }
        });
    before = isolde.run(TransactionOptions.reading(), Transaction::startTimestamp);
    meanwhile = before;
  }

  private void execute(String cql) {
    script.cql(cql + ";");
    session.execute(cql);
  }

  void transfer(int clients, Duration duration) {
    script.say("");
    script.say(
        "%d accounts, each a partition of its own, with %d each: %d in total."
            .formatted(ACCOUNTS, FIRST_BALANCE, TOTAL));
    script.say(
        "For %d seconds %d clients transfer money between them, all at the same time."
            .formatted(duration.toSeconds(), clients));
    script.say("Each transfer is a SERIALIZABLE transaction:");
    script.say("");
    script.cql("START TRANSACTION;");
    script.cql("SELECT balance FROM demo.accounts WHERE id = 3;         -- and of 5");
    script.cql("UPDATE demo.accounts SET balance = 80 WHERE id = 3;");
    script.cql("UPDATE demo.accounts SET balance = 120 WHERE id = 5;");
    script.cql("COMMIT;");
    script.say("");
    script.say("Meanwhile a reader adds up all balances, in READ ONLY transactions.");
    script.say("");
    runFor(clients, duration);
    script.number("transfers committed", Long.toString(committed.get()));
    script.number(
        "conflicts, run again by the client", Long.toString(attempts.get() - committed.get()));
    script.number("times all balances were added up", Long.toString(sums.get()));
    script.say("");
    script.check(
        wrongSums.get() == 0
            && sums.get() > 0
            && sum(balances(TransactionOptions.reading())) == TOTAL,
        "Every single time the sum was %d.".formatted(TOTAL),
        "%d sums were not %d.".formatted(wrongSums.get(), TOTAL));
    script.check(committed.get() > 0, "Transfers went on all the time.", "No transfer succeeded.");
  }

  private void runFor(int clients, Duration duration) {
    long endNanos = System.nanoTime() + duration.toNanos();
    ExecutorService threads = Executors.newFixedThreadPool(clients + 1);
    try {
      List<CompletableFuture<Void>> all = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        all.add(repeat(this::transferOnce, endNanos, threads));
      }
      all.add(repeat(() -> sumOnce(endNanos - duration.toNanos() / 2), endNanos, threads));
      all.forEach(CompletableFuture::join);
    } finally {
      threads.shutdownNow();
    }
  }

  private static CompletableFuture<Void> repeat(
      Runnable work, long endNanos, ExecutorService threads) {
    return CompletableFuture.runAsync(
        () -> {
          while (endNanos - System.nanoTime() > 0) {
            work.run();
          }
        },
        threads);
  }

  private void transferOnce() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    int from = random.nextInt(ACCOUNTS);
    int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
    long amount = 1 + random.nextLong(MAX_TRANSFERRED);
    isolde.runVoid(
        PATIENT,
        tx -> {
          attempts.incrementAndGet();
          long balanceFrom = balance(tx, from);
          long balanceTo = balance(tx, to);
          long moved = Math.min(amount, balanceFrom);
          write(tx, from, balanceFrom - moved);
          write(tx, to, balanceTo + moved);
        });
    committed.incrementAndGet();
  }

  private static long balance(Transaction tx, int id) {
    return tx.execute("SELECT balance FROM demo.accounts WHERE id = ?", id).one().getLong(0);
  }

  private static void write(Transaction tx, int id, long balance) {
    tx.execute("UPDATE demo.accounts SET balance = ? WHERE id = ?", balance, id);
  }

  private void sumOnce(long middleNanos) {
    long sum =
        isolde.run(
            TransactionOptions.reading(),
            tx -> {
              long total = sum(balances(tx));
              if (middleNanos - System.nanoTime() > 0) {
                meanwhile = tx.startTimestamp(); // Known since the first statement was answered.
              }
              return total;
            });
    sums.incrementAndGet();
    if (sum != TOTAL) {
      wrongSums.incrementAndGet();
    }
  }

  /** Shows the balances as they were. */
  void lookBack() {
    script.scene("The past can be read");
    script.say("Replaced values stay readable for as long as version_retention says: 10 s, if");
    script.say(
        "nothing is configured, and %s on this node. One query at three moments:"
            .formatted(RETENTION));
    script.say("");
    script.cql("START TRANSACTION READ ONLY AS OF %d;    -- microseconds".formatted(before));
    script.cql("SELECT id, balance FROM demo.accounts;");
    script.cql("COMMIT;");
    script.say("");
    SortedMap<Integer, Long> first = balances(TransactionOptions.asOf(before));
    SortedMap<Integer, Long> middle = balances(TransactionOptions.asOf(meanwhile));
    SortedMap<Integer, Long> last = balances(TransactionOptions.reading());
    row("account", first.keySet());
    row("before the transfers", first.values());
    row("while they went on", middle.values());
    row("now", last.values());
    script.say("");
    script.check(
        first.size() == ACCOUNTS && first.values().stream().allMatch(b -> b == FIRST_BALANCE),
        "Before the transfers every account had %d.".formatted(FIRST_BALANCE),
        "Before the transfers every account had %d, but not in this answer."
            .formatted(FIRST_BALANCE));
    script.check(
        sum(middle) == TOTAL && sum(last) == TOTAL,
        "At each moment the sum is %d.".formatted(TOTAL),
        "The sums are %d and %d instead of %d.".formatted(sum(middle), sum(last), TOTAL));
  }

  private void row(String label, Iterable<? extends Number> numbers) {
    StringBuilder line = new StringBuilder("    %-21s".formatted(label));
    numbers.forEach(number -> line.append("%5d".formatted(number.longValue())));
    script.say(line.toString());
  }

  private SortedMap<Integer, Long> balances(TransactionOptions options) {
    return isolde.run(options, DemoBank::balances);
  }

  private static SortedMap<Integer, Long> balances(Transaction tx) {
    SortedMap<Integer, Long> balances = new TreeMap<>();
    for (Row row : tx.execute("SELECT id, balance FROM demo.accounts")) {
      balances.put(row.getInt(0), row.getLong(1));
    }
    return balances;
  }

  private static long sum(SortedMap<Integer, Long> balances) {
    return balances.values().stream().mapToLong(Long::longValue).sum();
  }
}
