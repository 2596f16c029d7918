// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.client.ErrorCode;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Await;
import io.isolde.system.Pace;
import io.isolde.system.Results;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Clients that move money between accounts, others that count it, and some that count it again
 * later in the same snapshot.
 */
final class OngoingTransfers implements AutoCloseable {
  static final int ACCOUNTS = 100;
  private static final int INITIAL = 100;
  static final int TOTAL = ACCOUNTS * INITIAL;

  private static final int MORE = 50;
  private static final long PAUSE_MILLIS = 2_500;
  private static final TransactionOptions TRANSFER =
      TransactionOptions.builder().maxAttempts(50).timeLimit(Duration.ofSeconds(30)).build();

  private final Isolde isolde;
  private final List<Thread> threads = new ArrayList<>();
  private final List<String> wrong = new CopyOnWriteArrayList<>();
  private final Map<ErrorCode, Integer> refused = new ConcurrentHashMap<>();
  private final AtomicInteger transferred = new AtomicInteger();
  private final AtomicInteger counted = new AtomicInteger();
  private final AtomicInteger countedAgain = new AtomicInteger();
  private volatile boolean isOver;

  private OngoingTransfers(CqlSession session) {
    this.isolde = Isolde.on(session);
  }

  static OngoingTransfers start(CqlSession session) {
    OngoingTransfers transfers = new OngoingTransfers(session);
    transfers.isolde.runVoid(
        tx -> {
          for (int id = 0; id < ACCOUNTS; id++) {
            tx.write("INSERT INTO bank.accounts (id, balance) VALUES (?, ?)", id, INITIAL);
          }
        });
    for (int client = 0; client < 2; client++) {
      Random random = new Random(client);
      transfers.start(() -> transfers.transfer(random));
    }
    transfers.start(transfers::count);
    transfers.start(transfers::countTwice);
    return transfers;
  }

  private void start(Runnable work) {
    Thread thread = new Thread(() -> repeat(work));
    thread.setDaemon(true);
    thread.start();
    threads.add(thread);
  }

  /** Isolde may refuse what it can't do while the ring changes; nothing else may go wrong. */
  private void repeat(Runnable work) {
    while (!isOver) {
      try {
        work.run();
      } catch (IsoldeException e) {
        refused.merge(e.code(), 1, Integer::sum);
      } catch (RuntimeException | Error e) {
        wrong.add(e.toString());
      }
      Pace.pause();
    }
  }

  private void transfer(Random random) {
    int from = random.nextInt(ACCOUNTS);
    int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
    isolde.runVoid(
        TRANSFER,
        tx -> {
          int source = balance(tx, from);
          int target = balance(tx, to);
          tx.write("UPDATE bank.accounts SET balance = ? WHERE id = ?", source - 1, from);
          tx.write("UPDATE bank.accounts SET balance = ? WHERE id = ?", target + 1, to);
        });
    transferred.incrementAndGet();
  }

  private static int balance(Transaction tx, int id) {
    return tx.execute("SELECT balance FROM bank.accounts WHERE id = ?", id).one().getInt(0);
  }

  private void count() {
    check(isolde.run(TransactionOptions.reading(), OngoingTransfers::balances));
    counted.incrementAndGet();
  }

  /** The second time with other replicas, perhaps; what these lack of the past must be noticed. */
  private void countTwice() {
    isolde.runVoid(
        TransactionOptions.reading(),
        tx -> {
          List<String> first = balances(tx);
          check(first);
          pause();
          List<String> second = balances(tx);
          if (!second.equals(first)) {
            wrong.add(first + " was " + second + " later in the same snapshot");
          }
        });
    countedAgain.incrementAndGet();
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static List<String> balances(Transaction tx) {
    return Results.lines(tx.execute("SELECT id, balance FROM bank.accounts"));
  }

  private void check(List<String> balances) {
    int sum = balances.stream().mapToInt(row -> Integer.parseInt(row.split(" ", -1)[1])).sum();
    if (balances.size() != ACCOUNTS || sum != TOTAL) {
      wrong.add("%d accounts have %d".formatted(balances.size(), sum));
    }
  }

  /** Waits until all of it goes on. */
  void awaitMore() {
    int transfers = transferred.get() + MORE;
    int counts = counted.get() + MORE;
    int again = countedAgain.get() + 1;
    Await.until(
        "transfers and counts go on; refused so far: " + refused,
        () ->
            transferred.get() >= transfers
                && counted.get() >= counts
                && countedAgain.get() >= again);
    assertThat(wrong).isEmpty();
  }

  /** Ends all, and fails if something was wrong. */
  void end() throws InterruptedException {
    isOver = true;
    for (Thread thread : threads) {
      thread.join();
    }
    System.out.printf(
        "%d transfers, %d counts, %d of them twice; refused: %s%n",
        transferred.get(), counted.get() + countedAgain.get(), countedAgain.get(), refused);
    assertThat(wrong).isEmpty();
  }

  @Override
  public void close() {
    isOver = true;
  }
}
