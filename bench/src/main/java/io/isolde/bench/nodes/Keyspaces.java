// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.nodes;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.bench.kit.Pause;

/** Keyspaces with a replica of all rows on each node, on five nodes at most. */
public final class Keyspaces {
  /** The one of most benchmarks. */
  public static final String BENCH = "bench";

  private static final int MAX_REPLICAS = 5;
  private static final int AGREEMENT_SECONDS = 120;

  private Keyspaces() {}

  /** Creates one unless it is there. */
  public static void create(CqlSession session, String keyspace) {
    create(session, keyspace, "'class': 'SimpleStrategy'");
  }

  /** Creates one whose replicas agree by logs. */
  static void createStrong(CqlSession session, String keyspace, String durability) {
    create(
        session,
        keyspace,
        "'class': 'ReplicatedLogStrategy', 'durability': '%s'".formatted(durability));
  }

  private static void create(CqlSession session, String keyspace, String strategy) {
    int replicas = Math.min(MAX_REPLICAS, session.getMetadata().getNodes().size());
    session.execute(
        "CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {%s, 'replication_factor': %d}"
            .formatted(keyspace, strategy, replicas));
    awaitAgreement(session);
  }

  /** Asks every node: one that has not heard of a change yet believes that all agree. */
  public static void awaitAgreement(CqlSession session) {
    Pause.until(
        "the nodes agree on the schema", AGREEMENT_SECONDS, () -> schemaVersions(session) == 1);
  }

  private static long schemaVersions(CqlSession session) {
    return session.getMetadata().getNodes().values().stream()
        .map(
            node ->
                SimpleStatement.newInstance("SELECT schema_version FROM system.local")
                    .setNode(node))
        .map(statement -> session.execute(statement).one().getUuid(0))
        .distinct()
        .count();
  }
}
