// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.system.Await;
import io.isolde.system.SystemNode;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What operators see in the virtual keyspace isolde. */
class VirtualTablesTest {
  private static final SystemNode NODE = SystemNode.shared();

  private static List<Row> rows(String cql) {
    return NODE.session().execute(cql).all();
  }

  private static final String OUTCOME = "SELECT * FROM isolde.outcomes WHERE transaction_id = %s";

  @Test
  void whenANodeIsTheOnlyMemberThenItLeadsAndSaysSo() {
    String table = NODE.table("id int PRIMARY KEY, v int");
    long before = rows("SELECT * FROM isolde.oracle").get(0).getLong("committed");
    NODE.session().execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(table));

    Row oracle = rows("SELECT * FROM isolde.oracle").get(0);

    String self = NODE.process().spec().address();
    assertThat(oracle.getString("node")).isEqualTo(self);
    assertThat(oracle.getBoolean("member")).isTrue();
    assertThat(oracle.getString("answered_by")).isEqualTo("this_node");
    assertThat(oracle.getString("leader")).isEqualTo(self);
    assertThat(oracle.getList("members", String.class)).containsExactly(self);
    assertThat(oracle.getLong("entries_behind")).isZero();
    assertThat(oracle.getLong("committed")).isGreaterThan(before);
    assertThat(oracle.getLong("term")).isPositive();
    assertThat(oracle.getLong("stable")).isPositive();
    assertThat(oracle.getLong("commands")).isGreaterThanOrEqualTo(oracle.getLong("log_entries"));
    assertThat(oracle.getBoolean("session_open")).isTrue();
  }

  @Test
  void whenACoordinatorMayDecideThenItsSessionIsShown() {
    List<Row> sessions = rows("SELECT * FROM isolde.oracle_sessions");

    assertThat(sessions).hasSize(1);
    UUID host = rows("SELECT host_id FROM system.local").get(0).getUuid("host_id");
    assertThat(sessions.get(0).getUuid("coordinator")).isEqualTo(host);
    assertThat(sessions.get(0).getBoolean("this_node")).isTrue();
    assertThat(sessions.get(0).getLong("silent_ms")).isBetween(0L, 60_000L);
  }

  @Test
  void whenANodeRunsThenTheConfigurationHasItAndItsHistory() {
    Row self = rows("SELECT host_id FROM system.local").get(0);
    Await.until("the node has registered", () -> rows("SELECT * FROM isolde.ring").size() == 1);
    Row node = rows("SELECT * FROM isolde.ring").get(0);
    assertThat(node.getUuid("host_id")).isEqualTo(self.getUuid("host_id"));
    assertThat(node.getString("address")).isEqualTo(NODE.process().spec().address());
    assertThat(node.getString("state")).isEqualTo("UP");
    Row first =
        rows("SELECT * FROM isolde.configuration_history").stream()
            .min(Comparator.comparing(row -> row.getLong("version")))
            .orElseThrow();
    assertThat(first.getLong("version")).isEqualTo(1);
    assertThat(first.getString("change")).isEqualTo("NODE_REGISTERED");
    assertThat(first.getInstant("at")).isBefore(Instant.now().plusSeconds(60));
    assertThat(NODE.isolde().configuration().nodes()).hasSize(1);
  }

  @Test
  void whenTwoTransactionsAreInEachOthersWayThenTheConflictIsShown() {
    String table = NODE.table("id text PRIMARY KEY, v int");
    String write = "INSERT INTO %s (id, v) VALUES ('hot', 1)".formatted(table);
    UUID winner;
    UUID loser;
    try (Transaction first = NODE.isolde().begin();
        Transaction second = NODE.isolde().begin()) {
      winner = first.id();
      loser = second.id();
      for (Transaction transaction : List.of(first, second)) {
        transaction.execute("SELECT v FROM %s WHERE id = 'hot'".formatted(table));
        transaction.execute(write);
      }
      first.commit();
      assertThat(catchThrowable(second::commit)).isInstanceOf(IsoldeException.class);
    }

    Row conflict =
        rows("SELECT * FROM isolde.conflicts").stream()
            .filter(row -> loser.equals(row.getUuid("transaction_id")))
            .findFirst()
            .orElseThrow();

    assertThat(conflict.getUuid("committed_by")).isEqualTo(winner);
    assertThat(conflict.getString("keyspace_name") + "." + conflict.getString("table_name"))
        .isEqualTo(table);
    assertThat(conflict.getString("key")).isEqualTo("hot");
    assertThat(conflict.getString("kind")).isEqualTo("read_write");
    assertThat(conflict.getBoolean("true_conflict")).isTrue();
    assertThat(conflict.getLong("committed_at")).isPositive();
    assertThat(Duration.between(conflict.getInstant("seen_at"), Instant.now()).abs())
        .isLessThan(Duration.ofMinutes(1));
  }

  @Test
  void whenConflictsAreLookedAtThenTheNewestComesFirst() {
    List<Long> numbers =
        rows("SELECT number FROM isolde.conflicts").stream()
            .map(row -> row.getLong("number"))
            .toList();

    assertThat(numbers).isSortedAccordingTo((a, b) -> Long.compare(b, a));
  }

  @Test
  void whenATransactionIsOpenThenItIsShownUntilItEnds() {
    String table = NODE.table("id int PRIMARY KEY, v int");
    String mine;
    try (Transaction transaction = NODE.isolde().begin()) {
      mine = "SELECT * FROM isolde.transactions WHERE transaction_id = " + transaction.id();
      transaction.execute("SELECT v FROM %s WHERE id = 1".formatted(table));
      transaction.execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(table));

      Row open = rows(mine).get(0);

      assertThat(open.getString("isolation_level")).isEqualTo("serializable");
      assertThat(open.getBoolean("read_only")).isFalse();
      assertThat(open.getLong("reads")).isPositive();
      assertThat(open.getLong("writes")).isEqualTo(1);
      assertThat(open.getLong("write_bytes")).isPositive();
      assertThat(open.getString("node")).isEqualTo(NODE.process().spec().address());
      assertThat(open.getLong("start_timestamp")).isPositive();
      assertThat(open.getLong("idle_ms")).isBetween(0L, open.getLong("age_ms"));
      transaction.rollback();
    }
    assertThat(rows(mine)).isEmpty();
  }

  @Test
  void whenATransactionHasEndedThenItsOutcomeCanBeAskedForInTwoWays() {
    String table = NODE.table("id int PRIMARY KEY, v int");
    UUID committed;
    long commitTimestamp;
    try (Transaction transaction = NODE.isolde().begin()) {
      committed = transaction.id();
      transaction.execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(table));
      commitTimestamp = transaction.commit().commitTimestamp().getAsLong();
    }
    for (String ask : List.of("SHOW TRANSACTION %s", OUTCOME)) {
      Row row = rows(ask.formatted(committed)).get(0);
      assertThat(row.getUuid("transaction_id")).isEqualTo(committed);
      assertThat(row.getString("outcome")).isEqualTo("COMMITTED");
      assertThat(row.getLong("commit_timestamp")).isEqualTo(commitTimestamp);
    }
  }

  @Test
  void whenATransactionWasAbortedThenItsOutcomeSaysSo() {
    String table = NODE.table("id int PRIMARY KEY, v int");
    UUID loser;
    try (Transaction first = NODE.isolde().begin();
        Transaction second = NODE.isolde().begin()) {
      loser = second.id();
      for (Transaction transaction : List.of(first, second)) {
        transaction.execute("SELECT v FROM %s WHERE id = 1".formatted(table));
        transaction.execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(table));
      }
      first.commit();
      assertThat(catchThrowable(second::commit)).isInstanceOf(IsoldeException.class);
    }
    Row row = rows("SHOW TRANSACTION " + loser).get(0);
    assertThat(row.getString("outcome")).isEqualTo("ABORTED");
    assertThat(row.isNull("commit_timestamp")).isTrue();
    assertThat(rows(OUTCOME.formatted(loser))).hasSize(1);
  }

  @Test
  void whenNothingIsDecidedThenTheOutcomeIsUndecided() {
    UUID nobody = UUID.randomUUID();
    assertThat(rows("SHOW TRANSACTION " + nobody).get(0).getString("outcome"))
        .isEqualTo("UNDECIDED");
    assertThat(rows(OUTCOME.formatted(nobody))).isEmpty();
  }

  @Test
  void whenNobodyIsGoneThenNothingIsOrphaned() {
    assertThat(rows("SELECT * FROM isolde.orphans")).isEmpty();
  }
}
