// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.isolation;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.client.Transaction;
import io.isolde.system.Results;
import org.junit.jupiter.api.Test;

/** Whoever got the answer of a commit sees it from then on, on every connection. */
class MonotonicReadsTest extends Scenario {

  private final String table = node.table("id int PRIMARY KEY, v int");

  @Test
  void whenCommittedThenEveryoneSeesItAtOnce() {
    try (CqlSession other = node.connect()) {
      for (int v = 1; v <= 50; v++) {
        try (Transaction transaction = serializable()) {
          transaction.execute("UPDATE %s SET v = %d WHERE id = 1".formatted(table, v));
          assertCommits(transaction);
        }
        String expected = Integer.toString(v);
        assertThat(Results.lines(other.execute("SELECT v FROM " + table)))
            .containsExactly(expected);
        try (Transaction reader = reader()) {
          assertThat(read(reader, "SELECT v FROM " + table)).containsExactly(expected);
        }
      }
    }
  }

  @Test
  void whenCommitsFollowEachOtherThenTimestampsRise() {
    long last = 0;
    for (int v = 1; v <= 30; v++) {
      try (Transaction transaction = serializable()) {
        assertThat(transaction.startTimestamp()).isGreaterThanOrEqualTo(last);
        transaction.execute("UPDATE %s SET v = %d WHERE id = 1".formatted(table, v));
        long committed = transaction.commit().commitTimestamp().orElseThrow();
        assertThat(committed).isGreaterThan(transaction.startTimestamp());
        last = committed;
      }
      assertThat(read("SELECT writetime(v) FROM %s WHERE id = 1".formatted(table)))
          .containsExactly(Long.toString(last));
    }
  }
}
