// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.client.Transaction;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is added to a list stands where the order of the commits puts it. */
class ListOrderTest extends Scenario {
  private final String table = node.table("id int PRIMARY KEY, v list<int>");

  @Test
  void whenWhoAppendedFirstCommitsLastThenItsElementsAreLast() {
    try (Transaction first = serializable();
        Transaction second = serializable()) {
      append(first, 1, 2);
      append(second, 3);
      assertThat(second.commit().committed()).isTrue();
      assertThat(list()).containsExactly("[3]");
      assertThat(first.commit().committed()).isTrue();
    }
    assertThat(list()).containsExactly("[3, 1, 2]");
  }

  @Test
  void whenWhoPrependedFirstCommitsLastThenItsElementsAreFirst() {
    execute("UPDATE %s SET v = [9] WHERE id = 1".formatted(table));
    try (Transaction first = serializable();
        Transaction second = serializable()) {
      prepend(first, 1, 2);
      prepend(second, 3);
      assertThat(second.commit().committed()).isTrue();
      assertThat(first.commit().committed()).isTrue();
    }
    assertThat(list()).containsExactly("[1, 2, 3, 9]");
  }

  @Test
  void whenATransactionAddsAtBothEndsThenItSeesWhatItWillCommit() {
    execute("UPDATE %s SET v = [5] WHERE id = 1".formatted(table));
    try (Transaction transaction = serializable()) {
      append(transaction, 6);
      prepend(transaction, 4);
      append(transaction, 7, 8);
      prepend(transaction, 2, 3);
      assertThat(read(transaction, select())).containsExactly("[2, 3, 4, 5, 6, 7, 8]");
      assertThat(transaction.commit().committed()).isTrue();
    }
    assertThat(list()).containsExactly("[2, 3, 4, 5, 6, 7, 8]");
  }

  @Test
  void whenAListIsReplacedThenLaterAppendsStandBehind() {
    execute("UPDATE %s SET v = [1, 2] WHERE id = 1".formatted(table));
    try (Transaction transaction = serializable()) {
      append(transaction, 3);
      transaction.execute("UPDATE %s SET v = [7, 8] WHERE id = 1".formatted(table));
      append(transaction, 9);
      assertThat(read(transaction, select())).containsExactly("[7, 8, 9]");
      assertThat(transaction.commit().committed()).isTrue();
    }
    execute("UPDATE %s SET v = v + [10] WHERE id = 1".formatted(table));
    assertThat(list()).containsExactly("[7, 8, 9, 10]");
  }

  @Test
  void whenMoreIsAddedThanOneByteCanCountThenTheOrderStays() {
    List<Integer> many = IntStream.range(0, 40_000).boxed().toList();
    try (Transaction transaction = serializable()) {
      transaction.execute("UPDATE %s SET v = v + ? WHERE id = 1".formatted(table), many);
      assertThat(transaction.commit().committed()).isTrue();
    }
    assertThat(list()).containsExactly(many.toString());
  }

  private void append(Transaction transaction, Integer... values) {
    transaction.execute("UPDATE %s SET v = v + ? WHERE id = 1".formatted(table), List.of(values));
  }

  private void prepend(Transaction transaction, Integer... values) {
    transaction.execute("UPDATE %s SET v = ? + v WHERE id = 1".formatted(table), List.of(values));
  }

  private List<String> list() {
    return read(select());
  }

  private String select() {
    return "SELECT v FROM %s WHERE id = 1".formatted(table);
  }
}
