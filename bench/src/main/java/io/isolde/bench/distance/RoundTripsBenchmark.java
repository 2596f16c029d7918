// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.distance;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Medians;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Spread;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.ToolException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many round trips between nodes a commit takes that a plain write at QUORUM does not: one
 * update at a time, on nodes that are so far from one another that nothing else counts.
 */
public final class RoundTripsBenchmark {
  private static final int MAX_HEAP_MEGABYTES = 512;
  private static final int MAX_NODES = 5;

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

  private final Run run;
  private final DistantHosts hosts;
  private final Map<String, Double> metrics = new LinkedHashMap<>();

  private RoundTripsBenchmark(Run run, DistantHosts hosts) {
    this.run = run;
    this.hosts = hosts;
  }

  /** Runs it. */
  public static Report run(Run run) {
    if (!run.options().isInOwnNetwork() || !DistantHosts.arePossible()) {
      throw new ToolException(
          "Nodes can't be put far from one another here: it takes Linux, network namespaces, and"
              + " leave to create network devices.");
    }
    RoundTripsBenchmark benchmark = new RoundTripsBenchmark(run, DistantHosts.create(MAX_NODES));
    SETTINGS.forEach(benchmark::measure);
    return run.report(benchmark.metrics);
  }

  private void measure(Setting setting) {
    hosts.move(Duration.ZERO);
    run.say("%d nodes, commitlog_sync %s".formatted(setting.nodes, setting.commitLogSync));
    NodeSpec spec =
        TemporaryNode.spec(run.options().withHeapUpTo(MAX_HEAP_MEGABYTES))
            .withCassandraSetting("commitlog_sync", setting.commitLogSync)
            .withCassandraSetting("commitlog_sync_period", setting.period);
    try (TemporaryNode cluster =
        TemporaryNode.startOnHosts("round-trips", setting.nodes, spec, run.out())) {
      CqlSession session = cluster.session();
      RowTable plain = RowTable.create(cluster, "plain", run.options()).load();
      RowTable transactional =
          RowTable.createTransactional(cluster, "transactional", run.options()).load();
      warmUp(List.of(plain.updates(), transactional.updates()));
      for (int oneWay : setting.oneWayMillis) {
        hosts.move(Duration.ofMillis(oneWay));
        compare(
            "%s_%dms".formatted(setting.name, 2 * oneWay),
            2 * oneWay,
            session,
            plain,
            transactional);
      }
    }
  }

  /** Near one another and many at once, or the node's code would be interpreted for minutes. */
  private void warmUp(List<Workload> workloads) {
    BenchOptions options = run.options();
    for (int second = 0; second < options.warmupSeconds(); second++) {
      Workload one = workloads.get(second % workloads.size());
      var unused = one.run(options.inFlight(), Duration.ofSeconds(1));
    }
  }

  /** Through the leader's node, then through all others. */
  private void compare(
      String name,
      int roundTripMillis,
      CqlSession session,
      RowTable plain,
      RowTable transactional) {
    String leader = leader(session);
    for (boolean isLeader : List.of(true, false)) {
      List<Node> nodes =
          session.getMetadata().getNodes().values().stream()
              .filter(node -> TemporaryNode.isAt(node, leader) == isLeader)
              .toList();
      compare(
          "_" + name + (isLeader ? "_leader" : "_elsewhere"),
          roundTripMillis,
          alternating(plain, nodes),
          alternating(transactional, nodes));
    }
    if (!leader.equals(leader(session))) {
      throw new ToolException("Another node has come to lead meanwhile.");
    }
  }

  private static String leader(CqlSession session) {
    return session.execute("SELECT leader FROM isolde.oracle").one().getString(0);
  }

  private static Workload alternating(RowTable table, List<Node> nodes) {
    List<Workload> through = nodes.stream().map(table::updates).toList();
    AtomicInteger next = new AtomicInteger();
    return () -> through.get(Math.floorMod(next.getAndIncrement(), through.size())).send();
  }

  /** The same update, of a plain table and of a transactional one, through the same nodes. */
  private void compare(String suffix, int roundTripMillis, Workload plain, Workload transactional) {
    Medians trips = new Medians();
    for (int round = 0; round < run.options().rounds(); round++) {
      double plainMillis = p50Millis(plain);
      double millis = p50Millis(transactional);
      trips.add("plain_round_trips" + suffix, plainMillis / roundTripMillis);
      trips.add("commit_round_trips_more" + suffix, (millis - plainMillis) / roundTripMillis);
    }
    Spread more = trips.spread("commit_round_trips_more" + suffix);
    metrics.putAll(trips.toMap());
    metrics.put("commit_round_trips_more_max" + suffix, more.max());
    run.say(
        "  %s: a plain update takes %.2f round trips, a commit %.2f (%.2f-%.2f) more"
            .formatted(
                suffix.substring(1).replace('_', ' '),
                metrics.get("plain_round_trips" + suffix),
                more.median(),
                more.min(),
                more.max()));
  }

  private double p50Millis(Workload workload) {
    Measurement seen = workload.run(1, run.options().measured());
    if (seen.errors() > 0) {
      throw new ToolException("An update failed: " + seen.firstError().orElse("") + ".");
    }
    return seen.p50Millis();
  }
}
