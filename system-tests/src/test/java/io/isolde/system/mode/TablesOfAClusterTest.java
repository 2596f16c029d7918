// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.mode;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.servererrors.InvalidQueryException;
import io.isolde.client.ErrorCode;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import io.isolde.system.Await;
import io.isolde.system.NodeLogs;
import io.isolde.system.Pace;
import io.isolde.system.TestCluster;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tables become transactional, and are truncated, on one node while clients of others use them. Of
 * every row there is one replica, so that nobody mends what another one missed.
 */
@ExtendWith(NodeLogs.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TablesOfAClusterTest {
  private static final int NODES = 3;

  /** So many rows are on each of the nodes, as good as certainly. */
  private static final int ROWS = 12;

  private static final int ALL_IN_ONE_PAGE = 1_000_000;
  private static final int TRUNCATIONS = 6;
  private static final int ENABLED_TABLES = 3;
  private static final int INDEXES = 3;
  private static final long READ_AGAIN_MILLIS = 500;

  private TestCluster cluster;

  @BeforeAll
  void startCluster() {
    cluster = TestCluster.start("tables", NODES, "127.0.51.1", spec -> spec);
    cluster.change(
        "CREATE KEYSPACE k WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 1}");
  }

  @AfterAll
  void removeCluster() {
    cluster.close();
  }

  @Test
  void whenOneReplicaHasDataFromTheFarFutureThenEnableIsRefusedOnEveryNode() {
    cluster.change("CREATE TABLE k.future (id int PRIMARY KEY, v int)");
    long micros = (System.currentTimeMillis() + 3_600_000) * 1000;
    cluster.on(1, "INSERT INTO k.future (id, v) VALUES (1, 1) USING TIMESTAMP " + micros);
    for (int node = 1; node <= NODES; node++) {
      int executing = node;
      assertRefused(
          ErrorCode.UNSUPPORTED_TABLE,
          () -> cluster.on(executing, "ENABLE TRANSACTIONS ON k.future"));
    }
  }

  @Test
  void whenOneNodeTruncatesThenTransactionsOfOthersAreGoneAsAWholeOrThereAsAWhole() {
    cluster.change(
        "CREATE TABLE k.wholes (whole text, part int, v int, PRIMARY KEY ((whole, part)))",
        "ENABLE TRANSACTIONS ON k.wholes");
    try (Writers writers = new Writers(this::writeWhole)) {
      for (int i = 0; i < TRUNCATIONS; i++) {
        writers.awaitMore();
        cluster.on(1, "TRUNCATE k.wholes");
        writers.awaitMore();
        assertAllIsWhole();
      }
    }
  }

  private void assertAllIsWhole() {
    Map<String, Integer> parts = new HashMap<>();
    for (Row row : cluster.on(1, inOneSnapshot("SELECT whole FROM k.wholes"))) {
      parts.merge(row.getString("whole"), 1, Integer::sum);
    }
    assertThat(parts).isNotEmpty();
    assertThat(parts).allSatisfy((whole, count) -> assertThat(count).isEqualTo(ROWS));
  }

  /** Also what node 1 has not heard of yet. Each page would have a snapshot of its own. */
  private static SimpleStatement inOneSnapshot(String select) {
    return SimpleStatement.newInstance(select)
        .setConsistencyLevel(ConsistencyLevel.SERIAL)
        .setPageSize(ALL_IN_ONE_PAGE);
  }

  /** A commit beside a drop is before it or after it, on all nodes and by all of their clocks. */
  @Test
  void whenOneNodeDropsAColumnThenWhatTransactionsWroteToItIsGoneAsAWholeOrThereAsAWhole() {
    cluster.change(
        "CREATE TABLE k.columns (whole text, part int, v int, w int, PRIMARY KEY ((whole, part)))",
        "ENABLE TRANSACTIONS ON k.columns");
    try (Writers writers = new Writers(this::writeColumns)) {
      for (int i = 0; i < TRUNCATIONS; i++) {
        writers.awaitMore();
        cluster.on(1, "ALTER TABLE k.columns DROP v");
        cluster.on(1, "ALTER TABLE k.columns ADD v int");
        writers.awaitMore();
        assertColumnsAreWhole();
      }
    }
  }

  private void writeColumns(Writer writer) {
    String whole = writer.node + "." + writer.thread + "." + writer.done;
    try (Transaction transaction = Isolde.on(cluster.session()).begin()) {
      for (int part = 0; part < ROWS; part++) {
        transaction.execute(
            "INSERT INTO k.columns (whole, part, v, w) VALUES ('%s', %d, 1, 1)"
                .formatted(whole, part));
      }
      transaction.commit();
    } catch (IsoldeException refused) {
      assertThat(refused.code()).isIn(ErrorCode.SNAPSHOT_TOO_OLD, ErrorCode.UNAVAILABLE);
    } catch (InvalidQueryException refused) {
      assertThat(refused).hasMessageContaining("Undefined column name v");
    }
  }

  private void assertColumnsAreWhole() {
    Map<String, List<Boolean>> parts = new HashMap<>();
    for (Row row : cluster.on(1, inOneSnapshot("SELECT whole, v, w FROM k.columns"))) {
      assertThat(row.isNull("w")).isFalse();
      parts.computeIfAbsent(row.getString("whole"), w -> new ArrayList<>()).add(row.isNull("v"));
    }
    assertThat(parts).isNotEmpty();
    assertThat(parts)
        .allSatisfy(
            (whole, isGone) -> {
              assertThat(isGone).as(whole).hasSize(ROWS);
              assertThat(isGone.stream().distinct()).as(whole).hasSize(1);
            });
    assertThat(parts.values().stream().anyMatch(isGone -> !isGone.get(0)))
        .as("what was written since the last drop is there")
        .isTrue();
  }

  /** One transaction. */
  private void writeWhole(Writer writer) {
    String whole = writer.node + "." + writer.thread + "." + writer.done;
    String inserts =
        IntStream.range(0, ROWS)
            .mapToObj(
                part ->
                    "INSERT INTO k.wholes (whole, part, v) VALUES ('%s', %d, 0);"
                        .formatted(whole, part))
            .collect(Collectors.joining());
    cluster.on(writer.node, "BEGIN BATCH " + inserts + " APPLY BATCH");
  }

  /** With more replicas than nodes, a quorum is of all that there are. */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  void whenThereAreSoManyReplicasThenEveryNodeReadsWhatAnyNodeCommitted(int replicas) {
    String table = "rf%d.accounts".formatted(replicas);
    cluster.change(
        "CREATE KEYSPACE rf%d WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %d}"
            .formatted(replicas, replicas),
        "CREATE TABLE %s (id int PRIMARY KEY, balance int)".formatted(table),
        "ENABLE TRANSACTIONS ON " + table);
    String write = "UPDATE %s SET balance = %%d WHERE id = %%d".formatted(table);
    for (int id = 1; id <= ROWS; id++) {
      cluster.on(1 + id % NODES, write.formatted(100, id));
    }
    for (int from = 1; from < ROWS; from++) {
      int source = from;
      Isolde.on(cluster.session())
          .runVoid(
              tx -> {
                Map<Integer, Integer> before = balances(tx, table);
                assertThat(before.values().stream().mapToInt(v -> v).sum()).isEqualTo(100 * ROWS);
                tx.execute(write.formatted(before.get(source) - 10, source));
                tx.execute(write.formatted(before.get(source + 1) + 10, source + 1));
              });
    }
    Map<Integer, Integer> after = Isolde.on(cluster.session()).run(tx -> balances(tx, table));
    assertThat(after).hasSize(ROWS).containsEntry(1, 90).containsEntry(ROWS, 110);
  }

  private static Map<Integer, Integer> balances(Transaction tx, String table) {
    Map<Integer, Integer> balances = new HashMap<>();
    tx.execute("SELECT id, balance FROM " + table)
        .forEach(row -> balances.put(row.getInt(0), row.getInt(1)));
    return balances;
  }

  @Test
  void whenOneNodeEnablesThenSnapshotsAreFreeOfPlainWritesOfOthers() throws Exception {
    for (int i = 0; i < ENABLED_TABLES; i++) {
      String table = "k.enabled" + i;
      cluster.change("CREATE TABLE " + table + " (id text PRIMARY KEY, v int)");
      try (Writers writers = new Writers(writer -> writeOver(table, writer))) {
        writers.awaitMore();
        cluster.on(1, "ENABLE TRANSACTIONS ON " + table);
        try (Transaction reader = Isolde.on(cluster.session()).begin()) {
          Map<String, Integer> first = read(reader, table);
          Thread.sleep(READ_AGAIN_MILLIS);
          assertThat(read(reader, table)).isEqualTo(first);
        }
        writers.awaitMore();
      }
    }
  }

  private void writeOver(String table, Writer writer) {
    String id = writer.node + "." + writer.thread;
    cluster.on(
        writer.node, "UPDATE %s SET v = %d WHERE id = '%s'".formatted(table, writer.done, id));
  }

  private static Map<String, Integer> read(Transaction reader, String table) {
    Map<String, Integer> rows = new HashMap<>();
    for (Row row : reader.execute(SimpleStatement.newInstance("SELECT id, v FROM " + table))) {
      rows.put(row.getString("id"), row.getInt("v"));
    }
    return rows;
  }

  /** From its first moment on all nodes keep it, and what was written before gets its entries. */
  @Test
  void whenOneNodeMakesAUniqueIndexThenWritersOfOthersKeepIt() {
    cluster.change(
        "CREATE TABLE k.members (id text PRIMARY KEY, email text)",
        "ENABLE TRANSACTIONS ON k.members");
    try (Writers writers = new Writers(this::writeMember)) {
      for (int i = 0; i < INDEXES; i++) {
        writers.awaitMore();
        cluster.on(1, "CREATE UNIQUE INDEX members_email ON k.members (email)");
        writers.awaitMore();
        Isolde.on(cluster.session())
            .runVoid(
                tx ->
                    assertThat(emails(tx, "members_email"))
                        .isNotEmpty()
                        .isEqualTo(emails(tx, "members")));
        cluster.on(1, "DROP INDEX k.members_email");
      }
    }
  }

  private void writeMember(Writer writer) {
    String id = writer.node + "." + writer.thread + "." + writer.done % ROWS;
    cluster.on(
        writer.node,
        "UPDATE k.members SET email = '%s.%d' WHERE id = '%s'".formatted(id, writer.done, id));
  }

  private static Map<String, String> emails(Transaction tx, String table) {
    Map<String, String> emails = new HashMap<>();
    tx.execute("SELECT id, email FROM k." + table)
        .forEach(row -> emails.put(row.getString("email"), row.getString("id")));
    return emails;
  }

  /** A thread of a client of one node. */
  private static final class Writer {
    final int node;
    final int thread;
    int done;

    Writer(int node, int thread) {
      this.node = node;
      this.thread = thread;
    }
  }

  /** Clients of the nodes that don't make the change. What is refused they leave be. */
  private static final class Writers implements AutoCloseable {
    private static final int THREADS = 3;
    private static final int MORE = 30;

    private final AtomicBoolean isOver = new AtomicBoolean();
    private final AtomicInteger done = new AtomicInteger();
    private final List<CompletableFuture<Void>> ends = new ArrayList<>();

    Writers(Consumer<Writer> write) {
      for (int node = 2; node <= NODES; node++) {
        for (int thread = 0; thread < THREADS; thread++) {
          Writer writer = new Writer(node, thread);
          ends.add(CompletableFuture.runAsync(() -> run(writer, write), this::start));
        }
      }
    }

    private void start(Runnable task) {
      Thread thread = new Thread(task, "writer");
      thread.setDaemon(true);
      thread.start();
    }

    private void run(Writer writer, Consumer<Writer> write) {
      while (!isOver.get()) {
        try {
          writer.done++;
          write.accept(writer);
          done.incrementAndGet();
        } catch (DriverException refused) {
          assertThat(refused).hasMessageContaining("isolde code=");
        }
        Pace.pause();
      }
    }

    void awaitMore() {
      int enough = done.get() + MORE;
      Await.until("more is written", () -> done.get() >= enough);
    }

    @Override
    public void close() {
      isOver.set(true);
      ends.forEach(CompletableFuture::join);
    }
  }
}
