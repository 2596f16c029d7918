// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.unique;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.ErrorCode;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.system.Results;
import io.isolde.system.SystemNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Making, describing and dropping unique indexes. */
class UniqueIndexSchemaTest {
  private static final SystemNode NODE = SystemNode.shared();

  private String table;

  @BeforeEach
  void makeTable() {
    table =
        NODE.table(
            "k int PRIMARY KEY, a text, b text, s list<int>, f frozen<list<int>>, d decimal");
  }

  private List<String> lines(String cql) {
    return Results.lines(NODE.session().execute(cql.formatted(table)));
  }

  private void execute(String cql) {
    NODE.session().execute(cql.formatted(table));
  }

  private String index(String suffix) {
    return table.substring(table.indexOf('.') + 1) + suffix;
  }

  private List<String> tables() {
    return Stream.of(NODE.session().execute("DESCRIBE TABLES").all())
        .flatMap(List::stream)
        .map((Row row) -> row.getString("name"))
        .toList();
  }

  @Test
  void whenThereIsDataThenItGetsItsEntries() {
    PreparedStatement insert =
        NODE.session().prepare("INSERT INTO %s (k, a) VALUES (?, ?)".formatted(table));
    for (int k = 0; k < 1_200; k++) {
      NODE.session().execute(insert.bind(k, k % 3 == 0 ? null : "v" + k));
    }
    execute("CREATE UNIQUE INDEX ON %s (a)");
    assertThat(lines("SELECT count(*) FROM " + SystemNode.KEYSPACE + "." + index("_a_idx")))
        .containsExactly("800");
    assertThat(lines("SELECT k FROM %s WHERE a = 'v500'")).containsExactly("500");
    assertRefused(
        ErrorCode.UNIQUE_VIOLATION, () -> execute("INSERT INTO %s (k, a) VALUES (-1, 'v500')"));
  }

  @Test
  void whenDataHasAValueTwiceThenThereIsNoIndex() {
    execute("INSERT INTO %s (k, a) VALUES (1, 'x')");
    execute("INSERT INTO %s (k, a) VALUES (2, 'y')");
    execute("INSERT INTO %s (k, a) VALUES (3, 'x')");
    assertRefused(ErrorCode.UNIQUE_VIOLATION, () -> execute("CREATE UNIQUE INDEX ON %s (a)"));
    assertThat(tables()).doesNotContain(index("_a_idx"));
    execute("INSERT INTO %s (k, a) VALUES (4, 'y')");
    execute("DELETE FROM %s WHERE k IN (3, 4)");
    execute("CREATE UNIQUE INDEX ON %s (a)");
    assertThat(lines("SELECT k FROM %s WHERE a = 'x'")).containsExactly("1");
  }

  /** Statements that were prepared before know nothing of the index, and keep it. */
  @Test
  void whenItIsMadeAndDroppedWhileOthersWriteThenItHasAllRows() {
    AtomicInteger next = new AtomicInteger();
    AtomicBoolean isDone = new AtomicBoolean();
    PreparedStatement insert =
        NODE.session().prepare("INSERT INTO %s (k, a) VALUES (?, ?)".formatted(table));
    PreparedStatement update =
        NODE.session().prepare("UPDATE %s SET a = ? WHERE k = ?".formatted(table));
    List<CompletableFuture<Void>> writers = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      writers.add(
          CompletableFuture.runAsync(
              () -> {
                while (!isDone.get()) {
                  int k = next.getAndIncrement();
                  NODE.session().execute(insert.bind(k, "v" + k));
                  if (k % 10 == 0) {
                    NODE.session().execute(update.bind("w" + k, k / 2));
                  }
                }
              }));
    }
    for (int round = 0; round < 4; round++) {
      execute("CREATE UNIQUE INDEX " + index("_i") + " ON %s (a)");
      assertSameRowsAndEntries();
      execute("DROP INDEX " + SystemNode.KEYSPACE + "." + index("_i"));
    }
    isDone.set(true);
    writers.forEach(CompletableFuture::join);
  }

  private void assertSameRowsAndEntries() {
    try (Transaction reader =
        NODE.isolde().begin(TransactionOptions.builder().readOnly(true).build())) {
      assertThat(Results.lines(reader.execute("SELECT k, a FROM %s".formatted(table))))
          .isNotEmpty()
          .containsExactlyInAnyOrderElementsOf(
              Results.lines(
                  reader.execute("SELECT k, a FROM " + SystemNode.KEYSPACE + "." + index("_i"))));
    }
  }

  @Test
  void whenATransactionIsOlderThanTheIndexThenItCanReadButNotWrite() {
    execute("INSERT INTO %s (k, a) VALUES (1, 'x')");
    try (Transaction reader = NODE.isolde().begin();
        Transaction writer = NODE.isolde().begin()) {
      writer.execute("INSERT INTO %s (k, a) VALUES (2, 'x')".formatted(table));
      execute("CREATE UNIQUE INDEX ON %s (a)");
      assertThat(Results.lines(reader.execute("SELECT k FROM %s WHERE a = 'x'".formatted(table))))
          .containsExactly("1");
      reader.commit();
      assertRefused(ErrorCode.SNAPSHOT_TOO_OLD, writer::commit);
    }
  }

  @Test
  void whenItIsDroppedThenItsEntriesGoAndValuesAreFree() {
    execute("CREATE UNIQUE INDEX " + index("_i") + " ON %s (a, b)");
    assertThat(tables()).contains(index("_i"));
    assertThat(
            NODE.session()
                .execute("DESCRIBE INDEX " + SystemNode.KEYSPACE + "." + index("_i"))
                .one()
                .getString("create_statement"))
        .contains("(a, b)", "io.isolde.unique.UniqueIndex");
    execute("DROP INDEX " + SystemNode.KEYSPACE + "." + index("_i"));
    assertThat(tables()).doesNotContain(index("_i"));
    execute("INSERT INTO %s (k, a, b) VALUES (1, 'x', 'y')");
    execute("INSERT INTO %s (k, a, b) VALUES (2, 'x', 'y')");
    execute("DISABLE TRANSACTIONS ON %s");
  }

  @Test
  void whenTheTableIsDroppedThenItsEntriesGoToo() {
    execute("CREATE UNIQUE INDEX ON %s (a)");
    execute("CREATE UNIQUE INDEX ON %s (full(f))");
    execute("DROP TABLE %s");
    assertThat(tables()).doesNotContain(index("_a_idx"), index("_f_idx"));
  }

  @Test
  void whenItExistsThenOnlyIfNotExistsIsNoError() {
    execute("CREATE UNIQUE INDEX IF NOT EXISTS " + index("_i") + " ON %s (a)");
    execute("CREATE UNIQUE INDEX IF NOT EXISTS " + index("_i") + " ON %s (a)");
    execute("CREATE UNIQUE INDEX IF NOT EXISTS ON %s (a)");
    assertThatThrownBy(() -> execute("CREATE UNIQUE INDEX " + index("_i") + " ON %s (a)"))
        .hasMessageContaining("already exists");
    assertRefused(
        ErrorCode.UNSUPPORTED_UNIQUE_INDEX,
        () -> execute("CREATE UNIQUE INDEX " + index("_j") + " ON %s (a)"));
    execute("INSERT INTO %s (k, a) VALUES (1, 'x')");
    assertRefused(
        ErrorCode.UNIQUE_VIOLATION, () -> execute("INSERT INTO %s (k, a) VALUES (2, 'x')"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "s | collection",
        "values(s) | collection",
        "values(f) | full(f)",
        "d | different bytes",
        "z | Undefined column name z",
        "k | not of the primary key",
        "'a, a' | comes twice"
      })
  void whenColumnsCannotBeUniqueThenTheErrorSaysSo(String columns, String why) {
    assertThatThrownBy(() -> execute("CREATE UNIQUE INDEX ON %s (" + columns + ")"))
        .hasMessageContaining(why);
    assertThat(tables()).noneMatch(name -> name.startsWith(index("_")));
  }

  @Test
  void whenARowHasAnEmptyValueThenThereIsNoIndexAndTheRowCanBeMended() {
    execute("INSERT INTO %s (k, a) VALUES (1, '')");
    assertRefused(ErrorCode.INVALID_REQUEST, () -> execute("CREATE UNIQUE INDEX ON %s (a)"));
    execute("UPDATE %s SET a = null WHERE k = 1");
    execute("CREATE UNIQUE INDEX ON %s (a)");
  }

  @Test
  void whenAnotherIndexComparesOtherwiseThenItStillDoes() {
    execute("CREATE INDEX ON %s (a) USING 'sai' WITH OPTIONS = {'case_sensitive': 'false'}");
    execute("CREATE UNIQUE INDEX " + index("_i") + " ON %s (a)");
    execute("INSERT INTO %s (k, a) VALUES (1, 'Abc')");
    assertThat(lines("SELECT k FROM %s WHERE a = 'aBC'")).containsExactly("1");
    execute("INSERT INTO %s (k, a) VALUES (2, 'ABC')");
    assertThat(lines("SELECT k FROM %s WHERE a = 'abc'")).containsExactlyInAnyOrder("1", "2");
  }

  @Test
  void whenTheTableIsPlainThenItIsRefused() {
    String plain = NODE.plainTable("k int PRIMARY KEY, a text");
    assertRefused(
        ErrorCode.NOT_TRANSACTIONAL,
        () -> NODE.session().execute("CREATE UNIQUE INDEX ON " + plain + " (a)"));
  }

  @Test
  void whenItIsCreatedAsACustomIndexThenItIsTheSame() {
    execute("INSERT INTO %s (k, a) VALUES (1, 'x')");
    execute(
        "CREATE CUSTOM INDEX ON %s (a) USING 'io.isolde.unique.UniqueIndex'"
            + " WITH OPTIONS = {'since': '1'}");
    assertThat(lines("SELECT k FROM %s WHERE a = 'x'")).containsExactly("1");
    assertRefused(
        ErrorCode.UNIQUE_VIOLATION, () -> execute("INSERT INTO %s (k, a) VALUES (2, 'x')"));
  }
}
