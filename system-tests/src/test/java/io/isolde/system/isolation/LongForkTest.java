// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.Transaction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Readers agree on the order of independent writes: none sees the first without the second while
 * another sees the second without the first.
 */
class LongForkTest extends Scenario {

  private static final int ROUNDS = 50;
  private static final int WRITERS = 2;
  private static final int READERS = 2;
  private final String table = node.table("id int PRIMARY KEY, v int");

  /** What a reader saw of the two counters. */
  private record View(int x, int y) {}

  @Test
  void whenTwoWriteIndependentlyThenViewsAreOrdered() {
    for (int id = 0; id < WRITERS; id++) {
      execute("INSERT INTO %s (id, v) VALUES (%d, 0)".formatted(table, id));
    }
    AtomicInteger writing = new AtomicInteger(WRITERS);
    List<CompletableFuture<Void>> writers = new ArrayList<>();
    for (int id = 0; id < WRITERS; id++) {
      int counter = id;
      writers.add(
          CompletableFuture.runAsync(() -> count(counter))
              .whenComplete((done, error) -> writing.decrementAndGet()));
    }
    List<CompletableFuture<List<View>>> readers = new ArrayList<>();
    for (int reader = 0; reader < READERS; reader++) {
      boolean inTransaction = reader % 2 == 0;
      readers.add(CompletableFuture.supplyAsync(() -> views(writing, inTransaction)));
    }
    List<View> all = new ArrayList<>();
    readers.forEach(reader -> all.addAll(reader.join()));
    writers.forEach(CompletableFuture::join);
    for (View one : all) {
      assertThat(all).noneMatch(other -> one.x < other.x && one.y > other.y);
    }
  }

  private void count(int id) {
    for (int v = 1; v <= ROUNDS; v++) {
      execute("UPDATE %s SET v = %d WHERE id = %d".formatted(table, v, id));
    }
  }

  /** Also checks that a client's own views never go back. */
  private List<View> views(AtomicInteger writing, boolean inTransaction) {
    List<View> views = new ArrayList<>();
    View last = new View(0, 0);
    while (writing.get() > 0) {
      View next = inTransaction ? viewOfTransaction() : viewOfStatement();
      assertThat(next.x).isGreaterThanOrEqualTo(last.x);
      assertThat(next.y).isGreaterThanOrEqualTo(last.y);
      views.add(next);
      last = next;
    }
    return views;
  }

  private View viewOfTransaction() {
    try (Transaction transaction = reader()) {
      int y = Integer.parseInt(read(transaction, select(1)).get(0));
      return new View(Integer.parseInt(read(transaction, select(0)).get(0)), y);
    }
  }

  private View viewOfStatement() {
    List<String> rows = read("SELECT v FROM %s WHERE id IN (0, 1)".formatted(table));
    return new View(Integer.parseInt(rows.get(0)), Integer.parseInt(rows.get(1)));
  }

  private String select(int id) {
    return "SELECT v FROM %s WHERE id = %d".formatted(table, id);
  }
}
