// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.reads;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.client.ErrorCode;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Await;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A transaction goes on to see what was there at its start, whatever happens to table and disk. */
class SnapshotTest {

  private static final SystemNode NODE = SystemNode.shared();
  private static final List<String> SHAPES =
      List.of(
          "SELECT * FROM $t",
          "SELECT * FROM $t WHERE p = 1",
          "SELECT * FROM $t WHERE p = 1 AND c = 2",
          "SELECT * FROM $t WHERE p = 1 AND c IN (1, 9)",
          "SELECT * FROM $t WHERE p = 1 AND c >= 2 ORDER BY c DESC",
          "SELECT * FROM $t WHERE p IN (1, 2, 3)",
          "SELECT DISTINCT p, s FROM $t",
          "SELECT count(*), sum(v) FROM $t",
          "SELECT * FROM $t WHERE v = 2 ALLOW FILTERING",
          "SELECT p, c, m FROM $t LIMIT 3");

  private String table;
  private Transaction snapshot;
  private List<List<String>> before;

  @BeforeEach
  void fillAndBegin() {
    // Tombstones are dropped by the first compaction that may.
    table =
        NODE.table(
            "p int, c int, s int static, v int, m map<int, int>, PRIMARY KEY (p, c)",
            "WITH gc_grace_seconds = 0");
    for (int p = 1; p <= 2; p++) {
      for (int c = 1; c <= 4; c++) {
        execute(
            "INSERT INTO $t (p, c, v, m, s) VALUES (%d, %d, %d, {1: %d}, %d)"
                .formatted(p, c, c, c, p));
      }
    }
    snapshot = NODE.isolde().begin(TransactionOptions.reading());
    before = look();
  }

  @AfterEach
  void commit() {
    assertThat(snapshot.commit().committed()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE $t SET v = 20 WHERE p = 1 AND c = 2",
        "UPDATE $t SET m[1] = 20, m[3] = 20 WHERE p = 1 AND c = 2",
        "UPDATE $t SET m = {7: 7} WHERE p = 1 AND c = 2",
        "UPDATE $t SET s = 20 WHERE p = 1",
        "INSERT INTO $t (p, c, v) VALUES (1, 9, 2)",
        "INSERT INTO $t (p, c, v) VALUES (3, 1, 2)",
        "DELETE v FROM $t WHERE p = 1 AND c = 2",
        "DELETE m FROM $t WHERE p = 1 AND c = 2",
        "DELETE m[1] FROM $t WHERE p = 1 AND c = 2",
        "DELETE s FROM $t WHERE p = 1",
        "DELETE FROM $t WHERE p = 1 AND c = 2",
        "DELETE FROM $t WHERE p = 1 AND c > 1",
        "DELETE FROM $t WHERE p = 1 AND c > 1 AND c < 4",
        "DELETE FROM $t WHERE p = 1",
        "DELETE FROM $t WHERE p IN (1, 2)",
        "UPDATE $t USING TTL 1 SET v = 20 WHERE p = 1 AND c = 2"
      })
  void whenOthersWriteFlushAndCompactThenTheSnapshotStays(String write) throws Exception {
    execute(write);
    assertThat(look()).as("after the write").isEqualTo(before);
    NODE.flush(table);
    assertThat(look()).as("after a flush").isEqualTo(before);
    execute(write);
    if (write.startsWith("DELETE") || write.contains("TTL")) {
      Thread.sleep(1100); // Until a compaction may drop it.
    }
    NODE.flushAndCompact(table);
    assertThat(look()).as("after a compaction").isEqualTo(before);
    execute("UPDATE $t SET v = 21, m = {8: 8} WHERE p = 1 AND c = 2");
    assertThat(look()).as("after another write").isEqualTo(before);
    assertThat(now("SELECT v FROM $t WHERE p = 1 AND c = 2")).containsExactly("21");
  }

  @Test
  void whenWrittenOverAndOverThenEverySnapshotSeesItsOwn() {
    List<Transaction> snapshots = new ArrayList<>();
    for (int v = 100; v < 120; v++) {
      execute("UPDATE $t SET v = %d WHERE p = 1 AND c = 2".formatted(v));
      snapshots.add(NODE.isolde().begin(TransactionOptions.reading()));
      if (v % 5 == 0) {
        NODE.flush(table);
      }
    }
    for (int i = 0; i < snapshots.size(); i++) {
      try (Transaction each = snapshots.get(i)) {
        assertThat(
                Results.lines(
                    each.execute("SELECT v FROM %s WHERE p = 1 AND c = 2".formatted(table))))
            .containsExactly(Integer.toString(100 + i));
      }
    }
    assertThat(look()).isEqualTo(before);
  }

  @Test
  void whenPagesAreFetchedLateThenTheyAreOfTheSnapshot() {
    var rows =
        snapshot
            .execute(SimpleStatement.newInstance("SELECT p, c, v FROM " + table).setPageSize(1))
            .iterator();
    rows.next();
    execute("DELETE FROM $t WHERE p = 1");
    execute("DELETE FROM $t WHERE p = 2");
    NODE.flushAndCompact(table);
    int count = 1;
    while (rows.hasNext()) {
      rows.next();
      count++;
    }
    assertThat(count).isEqualTo(8);
  }

  @Test
  void whenATimeToLiveEndsThenTheTransactionDoesNotNotice() throws Exception {
    execute("INSERT INTO $t (p, c, v) VALUES (5, 1, 7) USING TTL 12");
    String select = "SELECT v FROM $t WHERE p = 5";
    try (Transaction transaction = NODE.isolde().begin(TransactionOptions.reading())) {
      assertThat(in(transaction, select)).containsExactly("7");
      Await.until("the row has expired", () -> now(select).isEmpty());
      NODE.flushAndCompact(table);
      NODE.flushAndCompact(table);
      assertThat(in(transaction, select)).containsExactly("7");
    }
  }

  @Test
  void whenAsOfAFewSecondsAgoThenItSeesThatTime() throws Exception {
    long then = snapshot.startTimestamp();
    execute("DELETE FROM $t WHERE p = 1");
    execute("UPDATE $t SET v = 20 WHERE p = 2 AND c = 2");
    NODE.flushAndCompact(table);
    Thread.sleep(1500);
    execute("INSERT INTO $t (p, c, v) VALUES (3, 3, 3)");
    for (long asOf : new long[] {then, then + 1}) {
      try (Transaction past = NODE.isolde().begin(TransactionOptions.asOf(asOf))) {
        assertThat(past.startTimestamp()).isEqualTo(then);
        assertThat(look(past)).isEqualTo(before);
        assertRefused(
            ErrorCode.READ_ONLY_TRANSACTION,
            () -> past.execute("INSERT INTO %s (p, c) VALUES (9, 9)".formatted(table)));
      }
    }
  }

  @Test
  void whenAsOfNowMinusTwoSecondsThenItIsReadable() throws Exception {
    Thread.sleep(2500);
    long ago = (System.currentTimeMillis() - 2000) * 1000;
    execute("DELETE FROM $t WHERE p = 1");
    try (Transaction past = NODE.isolde().begin(TransactionOptions.asOf(ago))) {
      assertThat(look(past)).isEqualTo(before);
    }
  }

  private List<List<String>> look() {
    return look(snapshot);
  }

  private List<List<String>> look(Transaction transaction) {
    return SHAPES.stream().map(shape -> in(transaction, shape)).toList();
  }

  private List<String> in(Transaction transaction, String cql) {
    return Results.lines(transaction.execute(cql.replace("$t", table)));
  }

  private List<String> now(String cql) {
    return Results.lines(NODE.session().execute(cql.replace("$t", table)));
  }

  private void execute(String cql) {
    NODE.session().execute(cql.replace("$t", table));
  }
}
