// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.refusal;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.client.ErrorCode;
import io.isolde.client.IsolationLevel;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.cluster.NodeTool;
import io.isolde.system.Await;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A node whose isolde.yaml allows little: at each limit the error names the setting. */
class LimitsTest {

  private static final int MAX_OPEN = 5;
  private static final int MAX_READS = 300;
  private static SystemNode node;
  private static String table;

  @BeforeAll
  static void startNode() {
    node =
        SystemNode.start(
            "limits",
            "127.0.31.2",
            spec ->
                spec.withIsoldeSetting("transaction_max_write_size", "2KiB")
                    .withIsoldeSetting("transaction_max_reads", Integer.toString(MAX_READS))
                    .withIsoldeSetting("max_open_transactions", Integer.toString(MAX_OPEN))
                    .withIsoldeSetting("transaction_max_idle", "4s")
                    .withIsoldeSetting("transaction_max_age", "8s")
                    .withIsoldeSetting("version_retention", "3s")
                    .withIsoldeSetting("oracle_max_rows", "1024")
                    .withIsoldeSetting("timestamp_reservation", "1s")
                    .withIsoldeSetting("max_timestamp_lead", "2s")
                    .withCassandraSetting("partition_denylist_enabled", "true")
                    .withCassandraSetting("denylist_consistency_level", "LOCAL_ONE"));
    node.useKeyspace();
    table = node.table("id int PRIMARY KEY, v int, t text");
    node.session().execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(table));
  }

  @AfterAll
  static void stopNode() {
    node.close();
  }

  /** The newest snapshot stands still while nobody begins anything. */
  @Test
  void whenTheOracleWasIdleThenThePastReachesUpToNow() {
    String plain = node.plainTable("id int PRIMARY KEY, v int");
    Await.until(
        "the newest snapshot is older than the lead that is allowed",
        () -> nowMicros() - newestSnapshot() > 3_000_000);
    long recently = nowMicros() - 500_000;
    try (Transaction past = node.isolde().begin(TransactionOptions.asOf(recently))) {
      assertThat(Results.lines(past.execute("SELECT id FROM " + table))).contains("1");
    }
    Await.until(
        "the newest snapshot is older than the lead that is allowed",
        () -> nowMicros() - newestSnapshot() > 3_000_000);
    node.session().execute("INSERT INTO %s (id, v) VALUES (1, 1)".formatted(plain));
    node.session().execute("ENABLE TRANSACTIONS ON " + plain);
  }

  private static long nowMicros() {
    return 1000 * System.currentTimeMillis();
  }

  private static long newestSnapshot() {
    return node.session().execute("SELECT stable FROM isolde.oracle").one().getLong(0);
  }

  @Test
  void whenItWritesTooMuchThenNothingOfItIsCommitted() {
    try (Transaction transaction = node.isolde().begin()) {
      transaction.execute("INSERT INTO %s (id, v) VALUES (2, 2)".formatted(table));
      assertThat(
              assertRefused(
                      ErrorCode.TRANSACTION_TOO_LARGE,
                      () ->
                          transaction.execute(
                              "INSERT INTO %s (id, t) VALUES (3, ?)".formatted(table),
                              "x".repeat(4000)))
                  .details())
          .containsEntry("limit", "transaction_max_write_size");
      assertThat(assertRefused(ErrorCode.TRANSACTION_ABORTED, transaction::commit).details())
          .containsEntry("because", "TRANSACTION_TOO_LARGE");
    }
    assertThat(read("SELECT id FROM " + table)).doesNotContain("2", "3");
  }

  @Test
  void whenAStatementOfItsOwnWritesTooMuchThenItIsRefusedToo() {
    assertThat(
            assertRefused(
                    ErrorCode.TRANSACTION_TOO_LARGE,
                    () ->
                        node.session()
                            .execute(
                                "INSERT INTO %s (id, t) VALUES (404, ?)".formatted(table),
                                "x".repeat(4000)))
                .details())
        .containsEntry("limit", "transaction_max_write_size");
    assertThat(read("SELECT id FROM " + table)).doesNotContain("404");
  }

  private static void deny(String[] name, String key) {
    try (NodeTool tool = node.tool()) {
      Object isDenied =
          tool.invoke(
              "org.apache.cassandra.db:type=StorageProxy", "denylistKey", name[0], name[1], key);
      assertThat(isDenied).isEqualTo(true);
    }
  }

  /** Refused before the decision: afterwards it could never be applied, and hold up all others. */
  @Test
  void whenAPartitionIsDeniedThenItsCommitIsRefusedAndOthersGoOn() {
    String denied = node.table("id int PRIMARY KEY, v int");
    String[] name = denied.split("\\.", -1);
    deny(name, "77");
    assertThatThrownBy(
            () -> node.session().execute("INSERT INTO %s (id, v) VALUES (77, 1)".formatted(denied)))
        .hasMessageContaining("denylisted");
    try (Transaction transaction = node.isolde().begin()) {
      assertThatThrownBy(
              () -> transaction.execute("INSERT INTO %s (id, v) VALUES (77, 1)".formatted(denied)))
          .hasMessageContaining("denylisted");
    }
    try (Transaction transaction = node.isolde().begin()) {
      transaction.execute("INSERT INTO %s (id, v) VALUES (76, 1)".formatted(denied));
      transaction.execute("INSERT INTO %s (id, v) VALUES (78, 1)".formatted(denied));
      deny(name, "76");
      assertThatThrownBy(transaction::commit).hasMessageContaining("denylisted");
    }
    node.session().execute("INSERT INTO %s (id, v) VALUES (79, 1)".formatted(denied));
    assertThat(read("SELECT v FROM %s WHERE id = 79".formatted(denied))).containsExactly("1");
    assertThat(read("SELECT v FROM %s WHERE id = 78".formatted(denied))).isEmpty();
  }

  @Test
  void whenItReadsTooMuchThenTheStatementIsRefused() {
    try (Transaction transaction = node.isolde().begin()) {
      assertThat(
              assertRefused(ErrorCode.TRANSACTION_TOO_LARGE, () -> readManyRows(transaction))
                  .details())
          .containsEntry("limit", "transaction_max_reads");
    }
  }

  @Test
  void whenReadsCannotConflictThenTheyAreNotCounted() {
    try (Transaction transaction = node.isolde().begin(TransactionOptions.reading())) {
      readManyRows(transaction);
    }
    TransactionOptions snapshot =
        TransactionOptions.builder().isolationLevel(IsolationLevel.SNAPSHOT).build();
    try (Transaction transaction = node.isolde().begin(snapshot)) {
      readManyRows(transaction);
    }
  }

  private static void readManyRows(Transaction transaction) {
    StringBuilder ids = new StringBuilder("0");
    for (int id = 1; id <= 100; id++) {
      ids.append(", ").append(id);
    }
    for (int i = 0; i < 4; i++) {
      var unused =
          transaction.execute(
              "SELECT * FROM %s WHERE id IN (%s)"
                  .formatted(table, ids.toString().replace(" ", " " + (i + 1))));
    }
  }

  @Test
  void whenTooManyAreOpenThenAnotherIsRefusedUntilOneEnds() {
    List<Transaction> open = new ArrayList<>();
    try {
      for (int i = 0; i < MAX_OPEN; i++) {
        open.add(node.isolde().begin());
      }
      assertThat(
              assertRefused(ErrorCode.TOO_MANY_TRANSACTIONS, () -> node.isolde().begin()).details())
          .containsEntry("limit", "max_open_transactions");
      node.session().execute("INSERT INTO %s (id, v) VALUES (4, 4)".formatted(table));
      open.get(0).rollback();
      open.add(node.isolde().begin());
    } finally {
      open.forEach(Transaction::close);
    }
  }

  @Test
  void whenIdleForTooLongThenItIsExpiredAndNothingIsWritten() throws Exception {
    try (Transaction transaction = node.isolde().begin()) {
      transaction.execute("INSERT INTO %s (id, v) VALUES (5, 5)".formatted(table));
      Thread.sleep(5000);
      assertThat(
              assertRefused(
                  ErrorCode.TRANSACTION_EXPIRED,
                  () -> transaction.execute("SELECT * FROM " + table)))
          .hasMessageContaining("transaction_max_idle");
      assertRefused(ErrorCode.TRANSACTION_EXPIRED, transaction::commit);
    }
    assertThat(read("SELECT id FROM " + table)).doesNotContain("5");
  }

  @Test
  void whenOpenForTooLongThenItIsExpiredAlthoughInUse() throws Exception {
    try (Transaction transaction = node.isolde().begin()) {
      long giveUp = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      IsoldeException refused =
          assertRefused(
              ErrorCode.TRANSACTION_EXPIRED,
              () -> {
                while (System.nanoTime() < giveUp) {
                  var unused = transaction.execute("SELECT * FROM " + table);
                  Thread.sleep(200);
                }
              });
      assertThat(refused).hasMessageContaining("transaction_max_age");
    }
  }

  /** For reads of hours. An ordinary transaction is too old by then for two reasons. */
  @Test
  void whenItReadsASnapshotThenItMayTakeAsLongAsItIsInUse() throws Exception {
    String exported = node.table("id int PRIMARY KEY, v int");
    String snapshot = SystemNode.freshName("export");
    node.session().execute("INSERT INTO %s (id, v) VALUES (1, 0)".formatted(exported));
    try (CqlSession connection = node.connectSerially()) {
      connection.execute("CREATE SNAPSHOT %s ON %s".formatted(snapshot, exported));
      connection.execute("START TRANSACTION READ ONLY AS OF SNAPSHOT " + snapshot);
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
      for (int v = 1; System.nanoTime() < end; v++) {
        node.session().execute("UPDATE %s SET v = %d WHERE id = 1".formatted(exported, v));
        assertThat(Results.lines(connection.execute("SELECT v FROM " + exported)))
            .containsExactly("0");
        Thread.sleep(100);
      }
      connection.execute("COMMIT");
      connection.execute("DROP SNAPSHOT " + snapshot);
    }
  }

  @Test
  void whenTheTransactionOfAConnectionExpiresThenRollbackFreesIt() throws Exception {
    try (CqlSession connection = node.connectSerially()) {
      connection.execute("START TRANSACTION");
      connection.execute("INSERT INTO %s (id, v) VALUES (6, 6)".formatted(table));
      Thread.sleep(5000);
      // Never by itself on its own: what the client believes to be in a transaction must not be
      // written outside of it.
      assertRefused(
          ErrorCode.TRANSACTION_EXPIRED,
          () -> connection.execute("INSERT INTO %s (id, v) VALUES (7, 7)".formatted(table)));
      assertRefused(ErrorCode.TRANSACTION_EXPIRED, () -> connection.execute("COMMIT"));
      connection.execute("START TRANSACTION");
      connection.execute("INSERT INTO %s (id, v) VALUES (8, 8)".formatted(table));
      assertThat(connection.execute("COMMIT").one().getBoolean("committed")).isTrue();
    }
    assertThat(read("SELECT id FROM " + table)).contains("8").doesNotContain("6", "7");
  }

  @Test
  void whenAsOfIsOlderThanTheRetentionAndTheRowHasChangedThenItIsRefusedOrRight() throws Exception {
    node.session().execute("INSERT INTO %s (id, v) VALUES (20, 1)".formatted(table));
    long then;
    try (Transaction transaction = node.isolde().begin()) {
      then = transaction.startTimestamp();
    }
    node.session().execute("UPDATE %s SET v = 2 WHERE id = 20".formatted(table));
    String select = "SELECT v FROM %s WHERE id = 20".formatted(table);
    try (Transaction past = node.isolde().begin(TransactionOptions.asOf(then))) {
      assertThat(Results.lines(past.execute(select))).containsExactly("1");
    }
    Thread.sleep(5000);
    node.session().execute("UPDATE %s SET v = 3 WHERE id = 20".formatted(table));
    try (Transaction past = node.isolde().begin(TransactionOptions.asOf(then))) {
      try {
        assertThat(Results.lines(past.execute(select))).containsExactly("1");
      } catch (RuntimeException e) {
        assertRefused(
            ErrorCode.AS_OF_TOO_OLD,
            () -> {
              throw e;
            });
      }
    }
  }

  @Test
  void whenTheOracleHasForgottenThenTheTransactionAborts() {
    String rows = node.table("p int, c int, v int, PRIMARY KEY (p, c)");
    try (Transaction transaction = node.isolde().begin()) {
      var unused = transaction.execute("SELECT * FROM %s WHERE id = 1".formatted(table));
      transaction.execute("INSERT INTO %s (id, v) VALUES (30, 1)".formatted(table));
      List<Integer> many = IntStream.range(0, 30).boxed().toList();
      for (int p = 0; p < 140; p++) {
        node.session()
            .execute(
                SimpleStatement.newInstance(
                    "UPDATE %s SET v = 1 WHERE p = ? AND c IN ?".formatted(rows), p, many));
      }
      assertRefused(ErrorCode.CONFLICT_FORGOTTEN, transaction::commit);
    }
    assertThat(read("SELECT id FROM " + table)).doesNotContain("30");
  }

  private static List<String> read(String cql) {
    return Results.lines(node.session().execute(cql));
  }
}
