// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.snapshots;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.ErrorCode;
import io.isolde.client.Isolde;
import io.isolde.system.Pace;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** START TRANSACTION READ ONLY AS OF SNAPSHOT, and snapshots of transactional tables. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SnapshotTransactionsTest {
  private static final SystemNode NODE = SystemNode.shared();

  private CqlSession connection;
  private String plain;
  private String transactional;
  private String snapshot;

  @BeforeAll
  void makeSnapshot() {
    connection = NODE.connectSerially();
    plain = NODE.plainTable("p int, c int, s int STATIC, v int, PRIMARY KEY (p, c)");
    transactional = NODE.table("p int, c int, s int STATIC, v int, PRIMARY KEY (p, c)");
    for (String table : List.of(plain, transactional)) {
      for (int c = 0; c < 10; c++) {
        connection.execute(
            "INSERT INTO %s (p, c, s, v) VALUES (%d, %d, 7, %d)".formatted(table, c % 2, c, c));
      }
      connection.execute("INSERT INTO %s (p, s) VALUES (9, 9)".formatted(table));
    }
    snapshot = SystemNode.freshName("snap");
    connection.execute("CREATE SNAPSHOT %s ON %s, %s".formatted(snapshot, plain, transactional));
    for (String table : List.of(plain, transactional)) {
      connection.execute("TRUNCATE " + table);
      connection.execute("ALTER TABLE %s ADD later int".formatted(table));
    }
  }

  @AfterAll
  void close() {
    connection.close();
  }

  private List<String> read(String cql) {
    return Results.lines(connection.execute(cql));
  }

  @Test
  void whenATransactionIsAsOfASnapshotThenItReadsTheSnapshotOfEveryTable() {
    PreparedStatement prepared =
        connection.prepare("SELECT c, later FROM %s WHERE p = ? AND c > ?".formatted(plain));
    Row started =
        connection.execute("START TRANSACTION READ ONLY AS OF SNAPSHOT " + snapshot).one();
    for (String table : List.of(plain, transactional)) {
      String from = " FROM " + table;
      assertThat(read("SELECT count(*), sum(v)" + from)).containsExactly("11 45");
      assertThat(read("SELECT v" + from + " WHERE p = 1 AND c IN (3, 5)"))
          .containsExactly("3", "5");
      assertThat(read("SELECT c" + from + " WHERE p = 0 ORDER BY c DESC LIMIT 2"))
          .containsExactly("8", "6");
      assertThat(read("SELECT DISTINCT p, s" + from))
          .containsExactlyInAnyOrder("0 7", "1 7", "9 9");
      assertThat(read("SELECT c" + from + " WHERE v = 4 ALLOW FILTERING")).containsExactly("4");
      assertThat(read("SELECT v" + from + " WHERE p IN (0, 1) AND c < 2"))
          .containsExactlyInAnyOrder("0", "1");
    }
    assertThat(Results.lines(connection.execute(prepared.bind(1, 6))))
        .containsExactly("7 null", "9 null");
    assertThat(read("SELECT count(*) FROM %s__%s".formatted(plain, snapshot)))
        .containsExactly("11");
    String other = NODE.plainTable("p int PRIMARY KEY");
    assertRefused(ErrorCode.SNAPSHOT_NOT_FOUND, () -> connection.execute("SELECT * FROM " + other));
    Row ended = connection.execute("COMMIT").one();
    assertThat(ended.getLong("commit_timestamp")).isEqualTo(started.getLong("start_timestamp"));
    assertThat(read("SELECT count(*) FROM " + plain)).containsExactly("0");
    assertRefused(ErrorCode.NO_TRANSACTION, () -> connection.execute("ROLLBACK"));
  }

  @Test
  void whenATransactionAsOfASnapshotWritesThenItHasEnded() {
    connection.execute("START TRANSACTION READ ONLY AS OF SNAPSHOT " + snapshot);
    assertRefused(
        ErrorCode.READ_ONLY_TRANSACTION,
        () -> connection.execute("DELETE FROM %s WHERE p = 1".formatted(plain)));
    assertRefused(ErrorCode.TRANSACTION_ABORTED, () -> read("SELECT count(*) FROM " + plain));
    assertRefused(ErrorCode.TRANSACTION_ABORTED, () -> connection.execute("COMMIT"));
  }

  @Test
  void whenThereIsNoSuchSnapshotThenTheTransactionDoesNotBegin() {
    assertRefused(
        ErrorCode.SNAPSHOT_NOT_FOUND,
        () -> connection.execute("START TRANSACTION AS OF SNAPSHOT nowhere"));
    assertRefused(ErrorCode.NO_TRANSACTION, () -> connection.execute("COMMIT"));
  }

  @Test
  void whenTwoTablesChangeTogetherThenEverySnapshotHasBothChangesOrNone() throws Exception {
    String left = NODE.table("p int PRIMARY KEY, v int");
    String right = NODE.table("p int PRIMARY KEY, v int");
    Isolde isolde = Isolde.on(NODE.session());
    AtomicBoolean isOver = new AtomicBoolean();
    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () -> {
              for (int i = 0; !isOver.get(); i++) {
                int value = i;
                isolde.runVoid(
                    transaction -> {
                      for (String table : List.of(left, right)) {
                        transaction.execute(
                            "INSERT INTO %s (p, v) VALUES (%d, %d)"
                                .formatted(table, value % 5, value));
                        if (value % 7 == 0) {
                          transaction.execute("DELETE FROM %s WHERE p = 3".formatted(table));
                        }
                      }
                    });
                Pace.pause();
              }
            });
    try {
      for (int i = 0; i < 8; i++) {
        String name = SystemNode.freshName("snap");
        NODE.session().execute("CREATE SNAPSHOT %s ON %s, %s".formatted(name, left, right));
        List<String> there = read("SELECT * FROM %s AS OF SNAPSHOT %s".formatted(left, name));
        assertThat(read("SELECT * FROM %s AS OF SNAPSHOT %s".formatted(right, name)))
            .isEqualTo(there);
        if (i == 4) {
          NODE.flushAndCompact(left);
        }
      }
    } finally {
      isOver.set(true);
    }
    writer.get();
  }
}
