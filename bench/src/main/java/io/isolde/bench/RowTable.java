// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.cluster.ToolException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;

/**
 * A table of rows with one value each, which begins with the time of its writing: so every answer
 * as of a timestamp is checked not to be from later.
 */
final class RowTable {
  static final String KEYSPACE = "bench";
  private static final int MAX_REPLICAS = 5;
  private static final int LOADING_ATTEMPTS = 10;
  private static final int LOADING_PAUSE_MILLIS = 2_000;
  private static final int MAX_LOADED_AT_ONCE = 100;
  private static final Duration AGREEMENT = Duration.ofMinutes(2);
  private static final long AGREEMENT_LOOK_MILLIS = 100;
  private static final String SCHEMA_VERSION = "SELECT schema_version FROM system.local";

  private final CqlSession session;
  private final String keyspace;
  private final String name;
  private final int rows;
  private final byte[] filling;
  private final PreparedStatement update;
  private final PreparedStatement insert;
  private final PreparedStatement read;
  private final AtomicLong lastInserted = new AtomicLong();

  private RowTable(CqlSession session, String keyspace, String table, BenchOptions options) {
    this.session = session;
    this.keyspace = keyspace;
    this.name = table;
    this.rows = options.rows();
    this.filling = new byte[options.rowBytes()];
    ThreadLocalRandom.current().nextBytes(filling);
    this.update = session.prepare("UPDATE %s SET v = ? WHERE p = ?".formatted(fullName()));
    this.insert = session.prepare("INSERT INTO %s (p, v) VALUES (?, ?)".formatted(fullName()));
    this.read = session.prepare("SELECT v FROM %s WHERE p = ?".formatted(fullName()));
  }

  /** Creates one without anything of Isolde's, on every node, of three at most. */
  static RowTable create(CqlSession session, String name, BenchOptions options) {
    return create(session, KEYSPACE, "'class': 'SimpleStrategy'", name, options);
  }

  /** Creates one in a strong keyspace of its own, which has the name of the table. */
  static RowTable createStrong(
      CqlSession session, String name, String durability, BenchOptions options) {
    String strategy = "'class': 'ReplicatedLogStrategy', 'durability': '" + durability + "'";
    return create(session, name, strategy, name, options);
  }

  private static RowTable create(
      CqlSession session, String keyspace, String strategy, String name, BenchOptions options) {
    createKeyspace(session, keyspace, strategy);
    session.execute("CREATE TABLE %s.%s (p bigint PRIMARY KEY, v blob)".formatted(keyspace, name));
    awaitAgreement(session);
    return new RowTable(session, keyspace, name, options);
  }

  /** Creates the keyspace of all benchmarks unless it is there, on five nodes at most. */
  static void createKeyspace(CqlSession session) {
    createKeyspace(session, KEYSPACE);
  }

  /** Creates a keyspace unless it is there, on five nodes at most. */
  static void createKeyspace(CqlSession session, String keyspace) {
    createKeyspace(session, keyspace, "'class': 'SimpleStrategy'");
  }

  private static void createKeyspace(CqlSession session, String keyspace, String strategy) {
    int replicas = Math.min(MAX_REPLICAS, session.getMetadata().getNodes().size());
    session.execute(
        "CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {%s, 'replication_factor': %d}"
            .formatted(keyspace, strategy, replicas));
    awaitAgreement(session);
  }

  /** Asks every node: one that has not heard of a change yet believes that all agree. */
  static void awaitAgreement(CqlSession session) {
    long deadline = System.nanoTime() + AGREEMENT.toNanos();
    while (schemaVersions(session) > 1) {
      if (System.nanoTime() > deadline) {
        throw new ToolException("The nodes do not agree on the schema.");
      }
      Pause.millis(AGREEMENT_LOOK_MILLIS);
    }
  }

  private static long schemaVersions(CqlSession session) {
    return session.getMetadata().getNodes().values().stream()
        .map(node -> SimpleStatement.newInstance(SCHEMA_VERSION).setNode(node))
        .map(statement -> session.execute(statement).one().getUuid(0))
        .distinct()
        .count();
  }

  /** Creates one that keeps its past, without transactions. */
  static RowTable createVersioned(CqlSession session, String name, BenchOptions options) {
    RowTable table = create(session, name, options);
    session.execute(
        "CREATE CUSTOM INDEX %s ON %s () USING 'io.isolde.version.VersionIndex'"
            .formatted(table.versionIndex(), table.fullName()));
    return table;
  }

  /** Creates one with the transactions of Cassandra 6, Accord. */
  static RowTable createAccord(CqlSession session, String name, BenchOptions options) {
    createKeyspace(session);
    session.execute(
        "CREATE TABLE %s.%s (p bigint PRIMARY KEY, v blob) WITH transactional_mode = 'full'"
            .formatted(KEYSPACE, name));
    awaitAgreement(session);
    return new RowTable(session, KEYSPACE, name, options);
  }

  /** Creates one with transactions. */
  static RowTable createTransactional(CqlSession session, String name, BenchOptions options) {
    RowTable table = create(session, name, options);
    session.execute("ENABLE TRANSACTIONS ON " + table.fullName());
    awaitAgreement(session);
    return table;
  }

  String fullName() {
    return keyspace + "." + name;
  }

  private String versionIndex() {
    return name + "_isolde_versions";
  }

  /**
   * Writes every row once. Nodes that have just started may be too slow for many at once; then
   * fewer are tried, after a while.
   */
  void load() {
    int atOnce = MAX_LOADED_AT_ONCE;
    int failures = 0;
    long next = 0;
    while (next < rows) {
      long end = Math.min(rows, next + atOnce);
      try {
        load(next, end);
        next = end;
        failures = 0;
        atOnce = Math.min(MAX_LOADED_AT_ONCE, 2 * atOnce);
      } catch (CompletionException e) {
        failures++;
        if (failures == LOADING_ATTEMPTS) {
          throw new ToolException("Row %d of %s can't be loaded.".formatted(next, fullName()), e);
        }
        atOnce = Math.max(1, atOnce / 4);
        Pause.millis(LOADING_PAUSE_MILLIS);
      }
    }
  }

  private void load(long from, long end) {
    CompletableFuture.allOf(
            LongStream.range(from, end)
                .mapToObj(p -> session.executeAsync(update.bind(value(), p)).toCompletableFuture())
                .toArray(CompletableFuture[]::new))
        .join();
  }

  void truncate() {
    session.execute("TRUNCATE " + fullName());
  }

  /** Writes to rows that are there. */
  Workload updates() {
    return () -> session.executeAsync(update.bind(value(), anyRow()));
  }

  /** Writes to rows that are there, under a condition that holds: a light-weight transaction. */
  Workload conditionalUpdates() {
    PreparedStatement conditional =
        session.prepare("UPDATE %s SET v = ? WHERE p = ? IF EXISTS".formatted(fullName()));
    return () -> session.executeAsync(conditional.bind(value(), anyRow()));
  }

  /** The same, through one node. */
  Workload updatesThrough(Node node) {
    return () -> session.executeAsync(update.bind(value(), anyRow()).setNode(node));
  }

  /** The same, which fail if they are not answered in time. */
  Workload updatesThrough(Node node, Duration timeout) {
    return () ->
        session.executeAsync(update.bind(value(), anyRow()).setNode(node).setTimeout(timeout));
  }

  /** The same, through one node. */
  Workload conditionalUpdatesThrough(Node node) {
    PreparedStatement conditional =
        session.prepare("UPDATE %s SET v = ? WHERE p = ? IF EXISTS".formatted(fullName()));
    return () -> session.executeAsync(conditional.bind(value(), anyRow()).setNode(node));
  }

  /** Reads at a consistency level, through one node or, if there is none given, through any. */
  Workload readsThrough(Optional<Node> node, ConsistencyLevel consistency) {
    return () ->
        checked(
            session.executeAsync(
                read.bind(anyRow()).setNode(node.orElse(null)).setConsistencyLevel(consistency)),
            Long.MAX_VALUE);
  }

  BoundStatement update(long row) {
    return update.bind(value(), row);
  }

  BoundStatement read(long row) {
    return read.bind(row);
  }

  /** Writes rows that were not there. */
  Workload inserts() {
    return () -> session.executeAsync(insert.bind(lastInserted.incrementAndGet(), value()));
  }

  /** Reads what is there now. */
  Workload reads() {
    return () -> checked(session.executeAsync(read.bind(anyRow())), Long.MAX_VALUE);
  }

  /** Reads what was there some time ago, from the index that keeps it. */
  Workload readsAsOf(long agoMicros) {
    PreparedStatement readAsOf =
        session.prepare(
            "SELECT v FROM %s WHERE p = ? AND expr(%s, ?)".formatted(fullName(), versionIndex()));
    return () -> {
      long asOf = nowMicros() - agoMicros;
      return checked(session.executeAsync(readAsOf.bind(anyRow(), asOf)), asOf);
    };
  }

  private static CompletionStage<?> checked(CompletionStage<AsyncResultSet> answer, long newest) {
    return answer.thenAccept(
        rows -> {
          Row row = rows.one();
          if (row == null) {
            throw new ToolException("A row that must be there was not found.");
          }
          long writtenAt = row.getByteBuffer(0).getLong();
          if (writtenAt > newest) {
            throw new ToolException(
                "A read as of %d found what was written at %d.".formatted(newest, writtenAt));
          }
        });
  }

  /** Another one, if there is another one. */
  long rowOtherThan(long row) {
    return rows == 1 ? row : (row + 1 + ThreadLocalRandom.current().nextLong(rows - 1)) % rows;
  }

  long rowAfter(long row, long steps) {
    return (row + steps) % rows;
  }

  long anyRow() {
    return ThreadLocalRandom.current().nextLong(rows);
  }

  ByteBuffer value() {
    byte[] bytes = filling.clone();
    return ByteBuffer.wrap(bytes).putLong(0, nowMicros());
  }

  private static long nowMicros() {
    return System.currentTimeMillis() * 1000;
  }
}
