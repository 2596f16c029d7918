// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Reads the configuration: two tables, again and again until both are of one version. */
final class ConfigurationRead {
  /** It changes when leaders do, so a few reads find it at rest. */
  private static final int MAX_READS = 20;

  /** Before the second read, and as much longer before each further one. */
  private static final long PAUSE_MILLIS = 5;

  private static final String NODES = "SELECT * FROM isolde.ring";
  private static final String GROUPS = "SELECT * FROM isolde.groups";

  private ConfigurationRead() {}

  /** Throws the node's error if there is one. */
  static ClusterConfiguration by(CqlSession session) {
    for (int read = 0; read < MAX_READS; read++) {
      pause(read * PAUSE_MILLIS);
      List<Row> groups = rows(session, GROUPS);
      List<Row> nodes = rows(session, NODES);
      // Without groups there is no version of theirs. A second look finds those of meanwhile.
      List<Row> others = groups.isEmpty() ? rows(session, GROUPS) : groups;
      Set<Long> versions = new HashSet<>();
      nodes.forEach(row -> versions.add(row.getLong("configuration_version")));
      others.forEach(row -> versions.add(row.getLong("configuration_version")));
      boolean isOfNodes = !nodes.isEmpty() || others.isEmpty();
      if (versions.size() == 1 && groups.size() == others.size() && isOfNodes) {
        return new ClusterConfiguration(
            versions.iterator().next(),
            nodes.stream().map(ConfigurationRead::node).toList(),
            others.stream().map(ConfigurationRead::group).toList());
      }
      if (versions.isEmpty()) {
        return new ClusterConfiguration(0, List.of(), List.of());
      }
    }
    throw IsoldeException.ofClient(
        ErrorCode.ORACLE_OVERLOADED,
        true,
        Outcome.NOT_COMMITTED,
        null,
        "The configuration of the cluster has changed during each of "
            + MAX_READS
            + " reads. Try again.",
        null);
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while reading the configuration.", e);
    }
  }

  private static List<Row> rows(CqlSession session, String select) {
    try {
      return session.execute(SimpleStatement.newInstance(select).setIdempotent(true)).all();
    } catch (DriverException e) {
      throw DriverErrors.reported(e).<RuntimeException>map(found -> found).orElse(e);
    }
  }

  private static ClusterConfiguration.Node node(Row row) {
    return new ClusterConfiguration.Node(
        row.getUuid("host_id"),
        row.getString("address"),
        row.getString("cql_address"),
        row.getString("datacenter"),
        row.getString("rack"),
        "UP".equals(row.getString("state")),
        row.getLong("version"));
  }

  private static ClusterConfiguration.Group group(Row row) {
    return new ClusterConfiguration.Group(
        row.getUuid("group_id"),
        row.getString("keyspace_name"),
        row.getInt("group_number"),
        row.getList("ranges", String.class),
        row.getList("members", String.class),
        row.getUuid("leader_id"),
        row.getLong("term"),
        "LED".equals(row.getString("state")),
        row.getLong("version"));
  }
}
