// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.NodeState;
import io.isolde.cluster.ToolException;
import io.isolde.staleness.Level;
import io.isolde.staleness.Setting;
import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A table of rows with a version, of its own for each setting, so that the nodes collect the delays
 * of each apart. Nothing mends it but the writes themselves: no read repair, no speculative retry.
 */
final class StudyTable implements LoadRequests {
  static final String KEYSPACE = "isolde_study";

  private static final String SCHEMA_VERSION = "SELECT schema_version FROM system.local";
  private static final long AGREEMENT_NANOS = TimeUnit.MINUTES.toNanos(2);
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int PADDING_BYTES = 100;

  private final CqlSession writers;
  private final CqlSession readers;
  private final PreparedStatement write;
  private final PreparedStatement read;
  private final ConsistencyLevel writeLevel;
  private final ConsistencyLevel readLevel;
  private final String name;

  private StudyTable(CqlSession writers, CqlSession readers, String name, Setting setting) {
    this.writers = writers;
    this.readers = readers;
    this.name = name;
    this.write =
        writers.prepare("INSERT INTO %s (id, version, padding) VALUES (?, ?, ?)".formatted(name));
    this.read = readers.prepare("SELECT version FROM %s WHERE id = ?".formatted(name));
    this.writeLevel = level(setting.write());
    this.readLevel = level(setting.read());
  }

  static void createKeyspace(CqlSession session) {
    session.execute(
        "CREATE KEYSPACE IF NOT EXISTS %s WITH replication = %s"
            .formatted(KEYSPACE, Replication.of(session)));
    awaitAgreement(session);
  }

  static StudyTable create(
      CqlSession writers, CqlSession readers, String purpose, Setting setting) {
    String name =
        "%s.%s_r_%s_w_%s"
            .formatted(KEYSPACE, purpose, setting.read(), setting.write())
            .toLowerCase(Locale.ROOT);
    writers.execute("DROP TABLE IF EXISTS " + name);
    awaitAgreement(writers);
    writers.execute(
        ("CREATE TABLE %s (id bigint PRIMARY KEY, version int, padding blob)"
                + " WITH read_repair = 'NONE' AND speculative_retry = 'NEVER'")
            .formatted(name));
    awaitAgreement(writers);
    return new StudyTable(writers, readers, name, setting);
  }

  /** Asks every node: one that has not heard of a change yet believes that all agree. */
  private static void awaitAgreement(CqlSession session) {
    long deadline = System.nanoTime() + AGREEMENT_NANOS;
    while (schemaVersions(session) > 1) {
      if (System.nanoTime() - deadline > 0) {
        throw new ToolException("The nodes do not agree on the schema.");
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  private static long schemaVersions(CqlSession session) {
    return session.getMetadata().getNodes().values().stream()
        .filter(node -> node.getState() == NodeState.UP)
        .map(node -> SimpleStatement.newInstance(SCHEMA_VERSION).setNode(node))
        .map(statement -> session.execute(statement).one().getUuid(0))
        .distinct()
        .count();
  }

  private static ConsistencyLevel level(Level level) {
    return DefaultConsistencyLevel.valueOf(level.name());
  }

  /** As {@code keyspace.table}. */
  String name() {
    return name;
  }

  @Override
  public CompletionStage<?> write(Node coordinator, long id, int version) {
    ByteBuffer padding = ByteBuffer.allocate(PADDING_BYTES);
    return writers.executeAsync(
        write
            .bind(id, version, padding)
            .setNode(coordinator)
            .setConsistencyLevel(writeLevel)
            .setIdempotent(false));
  }

  @Override
  public CompletionStage<Integer> read(Node coordinator, long id) {
    return readers
        .executeAsync(
            read.bind(id)
                .setNode(forReaders(coordinator))
                .setConsistencyLevel(readLevel)
                .setIdempotent(false))
        .thenApply(StudyTable::version);
  }

  private static int version(AsyncResultSet rows) {
    Row row = rows.one();
    return row == null ? -1 : row.getInt(0);
  }

  @Override
  public CompletionStage<?> roundTrip(Node coordinator) {
    return readers.executeAsync(
        SimpleStatement.newInstance("SELECT key FROM system.local WHERE key = 'local'")
            .setNode(forReaders(coordinator))
            .setIdempotent(false));
  }

  /** A session knows nodes by objects of its own. */
  private Node forReaders(Node node) {
    return readers.getMetadata().getNodes().get(node.getHostId());
  }
}
