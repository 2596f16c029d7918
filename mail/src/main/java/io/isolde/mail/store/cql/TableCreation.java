// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DefaultConsistencyLevel;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.loadbalancing.NodeDistance;
import com.datastax.oss.driver.api.core.metadata.Metadata;
import com.datastax.oss.driver.api.core.metadata.Node;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates keyspaces and tables, and waits until all nodes know them. All through one node, which
 * servers that start at once choose alike if they are connected to the same ones. Cassandra lets
 * two nodes create a table of the same name at once. Then it drops what was written to one of the
 * two.
 */
public final class TableCreation {
  private static final Logger log = LoggerFactory.getLogger(TableCreation.class);
  private static final Duration CREATE_TIMEOUT = Duration.ofSeconds(60);
  private static final long MAX_AGREEMENT_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final SimpleStatement VERSION =
      SimpleStatement.newInstance("SELECT schema_version FROM system.local")
          .setConsistencyLevel(DefaultConsistencyLevel.ONE)
          .setTimeout(Duration.ofSeconds(2));

  private TableCreation() {}

  /**
   * Creates those that are missing. If nodes do not agree on the schema within a minute, it warns
   * and goes on.
   *
   * @param tables each as its name, a space, and what comes after it
   */
  public static void create(CqlSession session, String keyspace, List<String> tables) {
    Set<String> there = new HashSet<>();
    session
        .execute(
            SimpleStatement.newInstance(
                "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?", keyspace))
        .forEach(row -> there.add(row.getString(0)));
    List<String> missing =
        tables.stream().filter(each -> !there.contains(each.split(" ", 2)[0])).toList();
    if (!missing.isEmpty()) {
      create(session, missing.stream().map(each -> "\"%s\".%s".formatted(keyspace, each)));
    }
    awaitAgreement(session); // Another server may have created them just now.
  }

  /**
   * The driver would read the whole schema again after each, and wait a second before. One at a
   * time: two that use the same session would not know what the setting was before.
   */
  private static synchronized void create(CqlSession session, Stream<String> tables) {
    boolean isEnabled = session.isSchemaMetadataEnabled();
    CompletionStage<Metadata> unused = session.setSchemaMetadataEnabled(false);
    try {
      tables.forEach(
          table -> session.execute(onFirstNode(session, "CREATE TABLE IF NOT EXISTS " + table)));
    } finally {
      unused = session.setSchemaMetadataEnabled(isEnabled);
    }
  }

  /** A statement that changes the schema. */
  static SimpleStatement onFirstNode(CqlSession session, String statement) {
    Optional<Node> first =
        session.getMetadata().getNodes().values().stream()
            .filter(TableCreation::isConnected)
            .min(Comparator.comparing(Node::getHostId));
    return SimpleStatement.newInstance(statement)
        .setTimeout(CREATE_TIMEOUT)
        .setNode(first.orElse(null));
  }

  private static boolean isConnected(Node node) {
    return node.getOpenConnections() > 0
        && node.getDistance() != NodeDistance.IGNORED
        && node.getHostId() != null;
  }

  /**
   * The driver asks one node for the versions of all. That node may not have heard of the last
   * change, nor that others have. So this asks each.
   */
  static void awaitAgreement(CqlSession session) {
    long startNanos = System.nanoTime();
    while (!isAgreed(session)) {
      if (System.nanoTime() - startNanos > MAX_AGREEMENT_NANOS) {
        log.warn("The nodes do not agree on the schema, so some may not know the new tables yet.");
        return;
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private static boolean isAgreed(CqlSession session) {
    Set<UUID> versions = new HashSet<>();
    for (Node node : session.getMetadata().getNodes().values()) {
      if (isConnected(node)) {
        try {
          versions.add(session.execute(VERSION.setNode(node)).one().getUuid(0));
        } catch (DriverException unknown) {
          return false;
        }
      }
    }
    return versions.size() <= 1;
  }
}
