// SPDX-License-Identifier: Apache-2.0
package io.isolde.study.live;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import com.datastax.oss.driver.api.core.metadata.TokenMap;
import com.datastax.oss.driver.api.core.metadata.token.TokenRange;
import io.isolde.cluster.ToolException;
import io.isolde.staleness.Delay;
import io.isolde.staleness.DelayHistogram;
import io.isolde.staleness.Legs;
import io.isolde.staleness.MeasuredLegs;
import io.isolde.staleness.MeasuredLegs.Route;
import io.isolde.staleness.Place;
import io.isolde.staleness.Topology;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A running cluster whose nodes collect delays. */
public final class LiveCluster {
  private static final String LOCAL_READ = "local_read";

  private final CqlSession session;

  public LiveCluster(CqlSession session) {
    this.session = session;
  }

  /**
   * Which nodes hold a keyspace's rows together, as the ring is now.
   *
   * @throws ToolException if there is no such keyspace
   */
  public Topology topology(String keyspace) {
    TokenMap ring =
        session
            .getMetadata()
            .getTokenMap()
            .orElseThrow(() -> new ToolException("The nodes do not say who owns which tokens."));
    List<Node> nodes = List.copyOf(session.getMetadata().getNodes().values());
    List<int[]> sets = new ArrayList<>();
    for (TokenRange range : ring.getTokenRanges()) {
      sets.add(ring.getReplicas(keyspace, range).stream().mapToInt(nodes::indexOf).toArray());
    }
    int most = sets.stream().mapToInt(set -> set.length).max().orElse(0);
    if (most == 0) {
      throw new ToolException("There is no keyspace " + keyspace + " with replicas.");
    }
    return new Topology(
        nodes.stream().map(LiveCluster::place).toList(),
        sets.stream().filter(set -> set.length == most).toList());
  }

  private static Place place(Node node) {
    return new Place(String.valueOf(node.getDatacenter()), String.valueOf(node.getRack()));
  }

  /**
   * What all nodes have collected for a table.
   *
   * @param table as {@code keyspace.table}
   * @return empty if nobody has seen anything of it
   * @throws ToolException if no node can be asked
   */
  public Optional<MeasuredLegs> legs(String table) {
    Map<Route, Map<String, List<String>>> histograms = new HashMap<>();
    Map<Route, Double> uncertainties = new HashMap<>();
    List<String> localReads = new ArrayList<>();
    for (Row row :
        rowsOfAllNodes("SELECT * FROM isolde.staleness_delays WHERE table_name = ?", table)) {
      String leg = row.getString("leg");
      if (LOCAL_READ.equals(leg)) {
        localReads.add(row.getString("histogram"));
        continue;
      }
      Route route =
          new Route(
              new Place(row.getString("from_datacenter"), row.getString("from_rack")),
              new Place(row.getString("datacenter"), row.getString("rack")));
      histograms
          .computeIfAbsent(route, r -> new HashMap<>())
          .computeIfAbsent(leg, l -> new ArrayList<>())
          .add(row.getString("histogram"));
      uncertainties.merge(route, 1e3 * row.getDouble("clock_uncertainty_ms"), Math::max);
    }
    Map<Route, Legs> legs = new HashMap<>();
    histograms.forEach(
        (route, byLeg) ->
            Legs.assuming(
                    delay(byLeg, "write"),
                    delay(byLeg, "ack"),
                    delay(byLeg, "request"),
                    delay(byLeg, "response"),
                    uncertainties.get(route))
                .ifPresent(found -> legs.put(route, found)));
    if (legs.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        new MeasuredLegs(
            legs, localReads.isEmpty() ? Delay.NONE : DelayHistogram.decoded(localReads)));
  }

  private static Optional<Delay> delay(Map<String, List<String>> byLeg, String leg) {
    return Optional.ofNullable(byLeg.get(leg)).map(DelayHistogram::decoded);
  }

  /** What the leaders of a strong keyspace's groups have measured of reads at ONE. */
  public List<Row> followerStaleness(String keyspace) {
    return rowsOfAllNodes(
        "SELECT * FROM isolde.follower_staleness WHERE keyspace_name = ?", keyspace);
  }

  /** What a node knows, only it can say; nodes that are down are passed over. */
  private List<Row> rowsOfAllNodes(String statement, String key) {
    List<Row> rows = new ArrayList<>();
    List<String> failures = new ArrayList<>();
    int asked = 0;
    for (Node node : new HashSet<>(session.getMetadata().getNodes().values())) {
      try {
        rows.addAll(
            session.execute(SimpleStatement.newInstance(statement, key).setNode(node)).all());
        asked++;
      } catch (DriverException e) {
        failures.add(node.getEndPoint() + ": " + e.getMessage());
      }
    }
    if (asked == 0) {
      throw new ToolException("No node tells its delays. " + String.join("; ", failures));
    }
    return rows;
  }
}
