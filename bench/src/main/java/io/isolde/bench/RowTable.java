// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A table of rows with one value each, which begins with the time of its writing: so every answer
 * as of a timestamp is checked not to be from later.
 */
final class RowTable {
  static final String KEYSPACE = "bench";
  private static final int LOADED_AT_ONCE = 100;
  private static final Duration AGREEMENT = Duration.ofMinutes(2);
  private static final long AGREEMENT_LOOK_MILLIS = 100;
  private static final String SCHEMA_VERSION = "SELECT schema_version FROM system.local";

  private final CqlSession session;
  private final String name;
  private final int rows;
  private final byte[] filling;
  private final PreparedStatement update;
  private final PreparedStatement insert;
  private final PreparedStatement read;
  private final AtomicLong lastInserted = new AtomicLong();

  private RowTable(CqlSession session, String table, BenchOptions options) {
    this.session = session;
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
    int replicas = Math.min(3, session.getMetadata().getNodes().size());
    session.execute(
        "CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': 'SimpleStrategy', 'replication_factor': %d}"
            .formatted(KEYSPACE, replicas));
    awaitAgreement(session);
    session.execute("CREATE TABLE %s.%s (p bigint PRIMARY KEY, v blob)".formatted(KEYSPACE, name));
    awaitAgreement(session);
    return new RowTable(session, name, options);
  }

  /** Asks every node: one that has not heard of a change yet believes that all agree. */
  private static void awaitAgreement(CqlSession session) {
    long deadline = System.nanoTime() + AGREEMENT.toNanos();
    while (schemaVersions(session) > 1) {
      if (System.nanoTime() > deadline) {
        throw new BenchException("The nodes do not agree on the schema.");
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

  /** Creates one with transactions. */
  static RowTable createTransactional(CqlSession session, String name, BenchOptions options) {
    RowTable table = create(session, name, options);
    session.execute("ENABLE TRANSACTIONS ON " + table.fullName());
    awaitAgreement(session);
    return table;
  }

  private String fullName() {
    return KEYSPACE + "." + name;
  }

  private String versionIndex() {
    return name + "_isolde_versions";
  }

  /** Writes every row once. */
  void load() {
    List<CompletableFuture<?>> sent = new ArrayList<>();
    for (long p = 0; p < rows; p++) {
      sent.add(session.executeAsync(update.bind(value(), p)).toCompletableFuture());
      if (sent.size() == LOADED_AT_ONCE || p == rows - 1) {
        CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new)).join();
        sent.clear();
      }
    }
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

  BoundStatement update() {
    return update.bind(value(), anyRow());
  }

  BoundStatement read() {
    return read.bind(anyRow());
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
            throw new BenchException("A row that must be there was not found.");
          }
          long writtenAt = row.getByteBuffer(0).getLong();
          if (writtenAt > newest) {
            throw new BenchException(
                "A read as of %d found what was written at %d.".formatted(newest, writtenAt));
          }
        });
  }

  private long anyRow() {
    return ThreadLocalRandom.current().nextLong(rows);
  }

  private ByteBuffer value() {
    byte[] bytes = filling.clone();
    return ByteBuffer.wrap(bytes).putLong(0, nowMicros());
  }

  private static long nowMicros() {
    return System.currentTimeMillis() * 1000;
  }
}
