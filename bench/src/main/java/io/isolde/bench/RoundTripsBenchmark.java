// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.bench.distance.DistantHosts;
import io.isolde.cluster.NodeSpec;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many round trips between nodes a commit takes that a plain write at QUORUM does not: one
 * update at a time, on nodes that are so far from one another that nothing else counts.
 */
final class RoundTripsBenchmark implements Benchmark {
  private static final Duration ONE_WAY = Duration.ofMillis(10);
  private static final double ROUND_TRIP_MILLIS = 2 * ONE_WAY.toMillis();
  private static final int HEAP_MEGABYTES = 512;
  private static final int MOST_NODES = 5;

  /** What stands for a leader somewhere else. */
  private static final String ELSEWHERE = "elsewhere";

  private static final String LEADER = "SELECT leader FROM isolde.oracle";

  /**
   * A cluster with a replica of each row on each of its nodes.
   *
   * @param name of it in those of metrics
   */
  private record Setting(String name, int nodes, String commitLogSync, String period) {}

  private static final List<Setting> SETTINGS =
      List.of(
          new Setting("3n", 3, "periodic", "10s"),
          new Setting("3n_batch", 3, "batch", "0ms"),
          new Setting("5n", MOST_NODES, "periodic", "10s"));

  @Override
  public String name() {
    return "round-trips";
  }

  @Override
  public String summary() {
    return "how many round trips between nodes a commit takes more than a plain write";
  }

  @Override
  public boolean wantsOwnNetwork() {
    return true;
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    if (!options.isInOwnNetwork() || !DistantHosts.arePossible()) {
      throw new BenchException(
          "Nodes can't be put far from one another here: it takes Linux, network namespaces, and"
              + " leave to create network devices.");
    }
    DistantHosts.create(MOST_NODES, ONE_WAY);
    Map<String, Double> metrics = new LinkedHashMap<>();
    SETTINGS.forEach(setting -> measure(setting, options, metrics, out));
    return Report.of(name(), options, metrics);
  }

  private static void measure(
      Setting setting, BenchOptions options, Map<String, Double> metrics, PrintWriter out) {
    out.printf(
        "%d nodes, commitlog_sync %s, %d ms apart%n",
        setting.nodes(), setting.commitLogSync(), ONE_WAY.toMillis());
    NodeSpec spec =
        TemporaryNode.spec(options)
            .withHeapMegabytes(Math.min(HEAP_MEGABYTES, options.heapMegabytes()))
            .withCassandraSetting("commitlog_sync", setting.commitLogSync())
            .withCassandraSetting("commitlog_sync_period", setting.period());
    try (TemporaryNode cluster =
            TemporaryNode.startOnHosts("round-trips", setting.nodes(), spec, out);
        CqlSession session = cluster.connect()) {
      RowTable plain = RowTable.create(session, "plain", options);
      RowTable transactional = RowTable.createTransactional(session, "transactional", options);
      List.of(plain, transactional).forEach(RowTable::load);
      List<Node> nodes = List.copyOf(session.getMetadata().getNodes().values());
      String leader = session.execute(LEADER).one().getString(0);
      for (String where : List.of("leader", ELSEWHERE)) {
        List<Node> some =
            nodes.stream().filter(node -> isAt(node, leader) != where.equals(ELSEWHERE)).toList();
        new Comparison(plain, transactional, some, options)
            .measure("_" + setting.name() + "_" + where, metrics, out);
      }
    }
  }

  private static boolean isAt(Node node, String address) {
    return node.getEndPoint().toString().contains(address + ":");
  }

  /** The same update, of a plain table and of a transactional one, through the same nodes. */
  private record Comparison(
      RowTable plain, RowTable transactional, List<Node> nodes, BenchOptions options) {

    void measure(String suffix, Map<String, Double> metrics, PrintWriter out) {
      Workload plainUpdates = inTurns(plain);
      Workload updates = inTurns(transactional);
      for (Workload each : List.of(plainUpdates, updates)) {
        var unused = ClosedLoop.run(each, 1, Duration.ofSeconds(options.warmupSeconds()));
      }
      List<Double> plainTrips = new ArrayList<>();
      List<Double> more = new ArrayList<>();
      for (int round = 0; round < options.rounds(); round++) {
        double plainMillis = p50Millis(plainUpdates);
        double millis = p50Millis(updates);
        plainTrips.add(plainMillis / ROUND_TRIP_MILLIS);
        more.add((millis - plainMillis) / ROUND_TRIP_MILLIS);
      }
      Spread spread = Spread.of(more);
      out.printf(
          "  %s: a plain update takes %.2f round trips, a commit %.2f (%.2f-%.2f) more%n",
          suffix.substring(1).replace('_', ' '),
          Spread.of(plainTrips).median(),
          spread.median(),
          spread.min(),
          spread.max());
      out.flush();
      metrics.put("plain_round_trips" + suffix, Spread.of(plainTrips).median());
      metrics.put("commit_round_trips_more" + suffix, spread.median());
      metrics.put("commit_round_trips_more_max" + suffix, spread.max());
    }

    private double p50Millis(Workload workload) {
      Measurement seen = ClosedLoop.run(workload, 1, Duration.ofSeconds(options.seconds()));
      if (seen.errors() > 0) {
        throw new BenchException("An update failed: " + seen.firstError().orElse("") + ".");
      }
      return seen.p50Millis();
    }

    private Workload inTurns(RowTable table) {
      List<Workload> through = nodes.stream().map(table::updatesThrough).toList();
      AtomicInteger next = new AtomicInteger();
      return () -> through.get(Math.floorMod(next.getAndIncrement(), through.size())).send();
    }
  }
}
