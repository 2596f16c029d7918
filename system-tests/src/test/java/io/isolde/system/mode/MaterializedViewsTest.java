// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.mode;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.client.ErrorCode;
import io.isolde.client.Transaction;
import io.isolde.system.Await;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Views of transactional tables follow what is committed, and are no part of transactions. */
class MaterializedViewsTest {
  private static final SystemNode NODE = SystemNode.shared();
  private static final CqlSession SESSION = NODE.session();

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whenATransactionCommitsThenTheViewFollows(boolean isViewFirst) {
    String table = NODE.plainTable("id int PRIMARY KEY, town text, v int");
    String view = isViewFirst ? view(table) : null;
    SESSION.execute("ENABLE TRANSACTIONS ON " + table);
    if (!isViewFirst) {
      view = view(table);
    }
    String byTown = "SELECT id, v FROM %s WHERE town = '%s'";
    SESSION.execute("INSERT INTO %s (id, town, v) VALUES (1, 'Oslo', 1)".formatted(table));
    SESSION.execute("INSERT INTO %s (id, town, v) VALUES (2, 'Oslo', 2)".formatted(table));
    awaitLines(byTown.formatted(view, "Oslo"), "1 1", "2 2");

    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("UPDATE %s SET town = 'Bergen' WHERE id = 1".formatted(table));
      transaction.execute("UPDATE %s SET v = 20 WHERE id = 2".formatted(table));
      transaction.execute("DELETE FROM %s WHERE id = 3".formatted(table));
      assertThat(lines(byTown.formatted(view, "Oslo"))).containsExactly("1 1", "2 2");
      transaction.commit();
    }
    awaitLines(byTown.formatted(view, "Bergen"), "1 1");
    awaitLines(byTown.formatted(view, "Oslo"), "2 20");

    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("DELETE FROM %s WHERE id = 2".formatted(table));
      transaction.rollback();
    }
    awaitLines(byTown.formatted(view, "Oslo"), "2 20");
  }

  @Test
  void whenATransactionReadsAViewThenItIsRefusedAndGoesOn() {
    String table = NODE.table("id int PRIMARY KEY, town text, v int");
    String view = view(table);
    assertRefused(
        ErrorCode.UNSUPPORTED_TABLE, () -> SESSION.execute("ENABLE TRANSACTIONS ON " + view));
    try (Transaction transaction = NODE.isolde().begin()) {
      transaction.execute("INSERT INTO %s (id, town) VALUES (1, 'Oslo')".formatted(table));
      assertRefused(
          ErrorCode.NOT_TRANSACTIONAL, () -> transaction.execute("SELECT * FROM " + view));
      assertThat(transaction.commit().committed()).isTrue();
    }
    awaitLines("SELECT id FROM " + view, "1");
  }

  private static String view(String table) {
    String view = table + "_by_town";
    SESSION.execute(
        "CREATE MATERIALIZED VIEW %s AS SELECT * FROM %s WHERE id IS NOT NULL AND town IS NOT NULL PRIMARY KEY (town, id)"
            .formatted(view, table));
    return view;
  }

  private static List<String> lines(String cql) {
    return Results.lines(SESSION.execute(cql));
  }

  private static void awaitLines(String cql, String... lines) {
    Await.until("the view has what was committed", () -> lines(cql).equals(List.of(lines)));
  }
}
