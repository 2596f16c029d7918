// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.bench.distance.DistantHosts;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.ToolException;
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
  private static final int HEAP_MEGABYTES = 512;
  private static final int MAX_NODES = 5;

  /** What stands for a leader somewhere else. */
  private static final String ELSEWHERE = "elsewhere";

  private static final String LEADER = "SELECT leader FROM isolde.oracle";

  /**
   * A cluster with a replica of each row on each of its nodes.
   *
   * @param name of it in those of metrics
   */
  private record Setting(
      String name, int nodes, String commitLogSync, String period, List<Integer> oneWayMillis) {}

  private static final List<Setting> SETTINGS =
      List.of(
          new Setting("3n", 3, "periodic", "10s", List.of(10)),
          new Setting("3n_batch", 3, "batch", "0ms", List.of(10)),
          new Setting("5n", MAX_NODES, "periodic", "10s", List.of(10, 50)));

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
      throw new ToolException(
          "Nodes can't be put far from one another here: it takes Linux, network namespaces, and"
              + " leave to create network devices.");
    }
    DistantHosts hosts = DistantHosts.create(MAX_NODES);
    Map<String, Double> metrics = new LinkedHashMap<>();
    SETTINGS.forEach(setting -> metrics.putAll(measure(setting, hosts, options, out)));
    return Report.of(name(), options, metrics);
  }

  private static Map<String, Double> measure(
      Setting setting, DistantHosts hosts, BenchOptions options, PrintWriter out) {
    hosts.move(Duration.ZERO);
    out.printf("%d nodes, commitlog_sync %s%n", setting.nodes(), setting.commitLogSync());
    NodeSpec spec =
        TemporaryNode.spec(options)
            .withHeapMegabytes(Math.min(HEAP_MEGABYTES, options.heapMegabytes()))
            .withCassandraSetting("commitlog_sync", setting.commitLogSync())
            .withCassandraSetting("commitlog_sync_period", setting.period());
    Map<String, Double> metrics = new LinkedHashMap<>();
    try (TemporaryNode cluster =
            TemporaryNode.startOnHosts("round-trips", setting.nodes(), spec, out);
        CqlSession session = cluster.connect()) {
      RowTable plain = RowTable.create(session, "plain", options);
      RowTable transactional = RowTable.createTransactional(session, "transactional", options);
      List.of(plain, transactional).forEach(RowTable::load);
      warmUp(List.of(plain.updates(), transactional.updates()), options);
      for (int oneWay : setting.oneWayMillis()) {
        hosts.move(Duration.ofMillis(oneWay));
        String name = "%s_%dms".formatted(setting.name(), 2 * oneWay);
        metrics.putAll(measure(name, 2 * oneWay, session, plain, transactional, options, out));
      }
    }
    return metrics;
  }

  /** Near one another and many at once, or the node's code would be interpreted for minutes. */
  private static void warmUp(List<Workload> workloads, BenchOptions options) {
    for (int second = 0; second < options.warmupSeconds(); second++) {
      Workload one = workloads.get(second % workloads.size());
      var unused = ClosedLoop.run(one, options.inFlight(), Duration.ofSeconds(1));
    }
  }

  private static Map<String, Double> measure(
      String name,
      int roundTripMillis,
      CqlSession session,
      RowTable plain,
      RowTable transactional,
      BenchOptions options,
      PrintWriter out) {
    Map<String, Double> metrics = new LinkedHashMap<>();
    List<Node> nodes = List.copyOf(session.getMetadata().getNodes().values());
    String leader = leader(session);
    for (String where : List.of("leader", ELSEWHERE)) {
      List<Node> some =
          nodes.stream().filter(node -> isAt(node, leader) != where.equals(ELSEWHERE)).toList();
      metrics.putAll(
          new Comparison(plain, transactional, some, roundTripMillis, options)
              .measure("_" + name + "_" + where, out));
    }
    if (!leader.equals(leader(session))) {
      throw new ToolException("Another node has come to lead meanwhile.");
    }
    return metrics;
  }

  private static String leader(CqlSession session) {
    return session.execute(LEADER).one().getString(0);
  }

  private static boolean isAt(Node node, String address) {
    return node.getEndPoint().toString().contains(address + ":");
  }

  /** The same update, of a plain table and of a transactional one, through the same nodes. */
  private record Comparison(
      RowTable plain,
      RowTable transactional,
      List<Node> nodes,
      int roundTripMillis,
      BenchOptions options) {

    Map<String, Double> measure(String suffix, PrintWriter out) {
      Workload plainUpdates = alternating(plain);
      Workload updates = alternating(transactional);
      List<Double> plainTrips = new ArrayList<>();
      List<Double> more = new ArrayList<>();
      for (int round = 0; round < options.rounds(); round++) {
        double plainMillis = p50Millis(plainUpdates);
        double millis = p50Millis(updates);
        plainTrips.add(plainMillis / roundTripMillis);
        more.add((millis - plainMillis) / roundTripMillis);
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
      return Map.of(
          "plain_round_trips" + suffix, Spread.of(plainTrips).median(),
          "commit_round_trips_more" + suffix, spread.median(),
          "commit_round_trips_more_max" + suffix, spread.max());
    }

    private double p50Millis(Workload workload) {
      Measurement seen = ClosedLoop.run(workload, 1, Duration.ofSeconds(options.seconds()));
      if (seen.errors() > 0) {
        throw new ToolException("An update failed: " + seen.firstError().orElse("") + ".");
      }
      return seen.p50Millis();
    }

    private Workload alternating(RowTable table) {
      List<Workload> through = nodes.stream().map(table::updatesThrough).toList();
      AtomicInteger next = new AtomicInteger();
      return () -> through.get(Math.floorMod(next.getAndIncrement(), through.size())).send();
    }
  }
}
