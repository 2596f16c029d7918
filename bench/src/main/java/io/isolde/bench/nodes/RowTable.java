// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.nodes;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Workload;
import io.isolde.cluster.ToolException;
import java.nio.ByteBuffer;
import java.time.Duration;
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
public final class RowTable {
  /** The keyspace of all but strong ones. */
  public static final String KEYSPACE = "bench";

  private static final int LOADING_ATTEMPTS = 10;
  private static final int LOADING_PAUSE_MILLIS = 2_000;
  private static final int MAX_LOADED_AT_ONCE = 100;

  private final CqlSession session;
  private final String name;
  private final int rows;
  private final byte[] filling;
  private final PreparedStatement update;
  private final PreparedStatement insert;
  private final PreparedStatement read;
  private final AtomicLong lastInserted = new AtomicLong();

  private RowTable(CqlSession session, String name, BenchOptions options) {
    this.session = session;
    this.name = name;
    this.rows = options.rows();
    this.filling = new byte[options.rowBytes()];
    ThreadLocalRandom.current().nextBytes(filling);
    this.update = session.prepare("UPDATE %s SET v = ? WHERE p = ?".formatted(name));
    this.insert = session.prepare("INSERT INTO %s (p, v) VALUES (?, ?)".formatted(name));
    this.read = session.prepare("SELECT v FROM %s WHERE p = ?".formatted(name));
  }

  /** Creates one without anything of Isolde's. */
  public static RowTable create(TemporaryNode node, String name, BenchOptions options) {
    node.createKeyspace(KEYSPACE);
    return create(node, KEYSPACE, name, "", options);
  }

  /** Creates one in a strong keyspace of its own, which has the name of the table. */
  public static RowTable createStrong(
      TemporaryNode node, String name, String durability, BenchOptions options) {
    return createStrong(node, name, durability, 1, options);
  }

  /** The same, with several groups that each leader may be another node of. */
  public static RowTable createStrong(
      TemporaryNode node, String name, String durability, int groups, BenchOptions options) {
    node.createKeyspace(
        name,
        "'class': 'ReplicatedLogStrategy', 'durability': '%s', 'groups': %d"
            .formatted(durability, groups));
    return create(node, name, name, "", options);
  }

  /** The same table, over a session of the caller's. */
  public RowTable over(CqlSession other, BenchOptions options) {
    return new RowTable(other, name, options);
  }

  /** Creates one that keeps its past, without transactions. */
  public static RowTable createVersioned(TemporaryNode node, String name, BenchOptions options) {
    RowTable table = create(node, name, options);
    node.session()
        .execute(
            "CREATE CUSTOM INDEX %s ON %s () USING 'io.isolde.version.VersionIndex'"
                .formatted(table.versionIndex(), table.name));
    return table;
  }

  /** Creates one with the transactions of Cassandra 6, Accord. */
  public static RowTable createAccord(TemporaryNode node, String name, BenchOptions options) {
    node.createKeyspace(KEYSPACE);
    return create(node, KEYSPACE, name, " WITH transactional_mode = 'full'", options);
  }

  /** Creates one with transactions. */
  public static RowTable createTransactional(
      TemporaryNode node, String name, BenchOptions options) {
    RowTable table = create(node, name, options);
    node.session().execute("ENABLE TRANSACTIONS ON " + table.name);
    node.awaitSchema();
    return table;
  }

  private static RowTable create(
      TemporaryNode node, String keyspace, String table, String with, BenchOptions options) {
    String name = keyspace + "." + table;
    node.session()
        .execute("CREATE TABLE %s (p bigint PRIMARY KEY, v blob)%s".formatted(name, with));
    node.awaitSchema();
    return new RowTable(node.session(), name, options);
  }

  /** Returns its name, with that of the keyspace. */
  public String name() {
    return name;
  }

  private String versionIndex() {
    return name.substring(name.indexOf('.') + 1) + "_isolde_versions";
  }

  /**
   * Writes every row once. Nodes that have just started may be too slow for many at once; then
   * fewer are tried, after a while.
   */
  public RowTable load() {
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
          throw new ToolException("Row %d of %s can't be loaded.".formatted(next, name), e);
        }
        atOnce = Math.max(1, atOnce / 4);
        Pause.millis(LOADING_PAUSE_MILLIS);
      }
    }
    return this;
  }

  private void load(long from, long end) {
    CompletableFuture.allOf(
            LongStream.range(from, end)
                .mapToObj(row -> session.executeAsync(update(row)).toCompletableFuture())
                .toArray(CompletableFuture[]::new))
        .join();
  }

  /** Deletes all rows. */
  public void truncate() {
    session.execute("TRUNCATE " + name);
  }

  /** Writes to rows that are there. */
  public Workload updates() {
    return updates(null);
  }

  /** Writes to rows that are there, through one node; null for any. */
  public Workload updates(Node node) {
    return updates(node, null);
  }

  /** The same, which fail if they are not answered in time; null for the usual time. */
  public Workload updates(Node node, Duration timeout) {
    return () -> session.executeAsync(update(anyRow()).setNode(node).setTimeout(timeout));
  }

  /** Writes to rows that are there, under a condition that holds, through one node or any. */
  public Workload conditionalUpdates(Node node) {
    PreparedStatement conditional =
        session.prepare("UPDATE %s SET v = ? WHERE p = ? IF EXISTS".formatted(name));
    return () -> session.executeAsync(conditional.bind(value(), anyRow()).setNode(node));
  }

  /** Writes rows that were not there. */
  public Workload inserts() {
    return () -> session.executeAsync(insert.bind(lastInserted.incrementAndGet(), value()));
  }

  /** Reads what is there now. */
  public Workload reads() {
    return reads(null, ConsistencyLevel.QUORUM);
  }

  /** Reads at a consistency level, through one node; null for any. */
  public Workload reads(Node node, ConsistencyLevel consistency) {
    return () ->
        checked(
            session.executeAsync(read(anyRow()).setNode(node).setConsistencyLevel(consistency)),
            Long.MAX_VALUE);
  }

  /** Reads what was there some time ago, from the index that keeps it. */
  public Workload readsAsOf(long agoMicros) {
    PreparedStatement readAsOf =
        session.prepare(
            "SELECT v FROM %s WHERE p = ? AND expr(%s, ?)".formatted(name, versionIndex()));
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

  /** Returns the statement that writes a row. */
  public BoundStatement update(long row) {
    return update.bind(value(), row);
  }

  /** Returns the statement that reads a row. */
  public BoundStatement read(long row) {
    return read.bind(row);
  }

  /** Returns another row, if there is another one. */
  public long rowOtherThan(long row) {
    return rows == 1 ? row : (row + 1 + ThreadLocalRandom.current().nextLong(rows - 1)) % rows;
  }

  /** Returns the row so many steps further. */
  public long rowAfter(long row, long steps) {
    return (row + steps) % rows;
  }

  /** Returns a row by chance. */
  public long anyRow() {
    return ThreadLocalRandom.current().nextLong(rows);
  }

  /** Returns what is written to a row now. */
  public ByteBuffer value() {
    return ByteBuffer.wrap(filling.clone()).putLong(0, nowMicros());
  }

  private static long nowMicros() {
    return System.currentTimeMillis() * 1000;
  }
}
