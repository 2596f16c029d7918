// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.cluster.Network;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.ToolException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * For how long nobody can write to a strong keyspace when its leader dies, hangs, is cut off or
 * hands over.
 *
 * <p>Each client talks to one node. A gap is the longest time without a success of the clients of a
 * node that is not hit itself, from the event until all is well again: of these nodes, the one with
 * the longest.
 */
final class StrongFailover {
  private static final int NODES = 3;
  private static final int CLIENTS_PER_NODE = 8;
  private static final int MAX_HEAP_MEGABYTES = 1024;
  private static final int ROUNDS_OF_EVENTS = 4;
  private static final long OUTAGE_MILLIS = 4_000;
  private static final long CALM_MILLIS = 1_000;
  private static final int PATIENCE_SECONDS = 120;
  private static final double MILLIS_PER_SECOND = 1e3;
  private static final List<String> EVENTS =
      List.of("quiet", "planned", "kill", "pause", "partition");

  /** A request that takes longer has failed. */
  private static final Duration TIMEOUT = Duration.ofSeconds(2);

  private static final String GROUP =
      "SELECT state, leader, applied_index FROM isolde.replica_groups WHERE keyspace_name ="
          + " 'strong'";

  /** How far a replica may be behind where it counts as well again; writes go on meanwhile. */
  private static final long CAUGHT_UP_ENTRIES = 200;

  /** What happens to the leader, and what ends it. */
  private interface Event {
    void strike(int leader);

    void mend(int leader);

    /** Whether clients of the leader's node are hit as well. */
    default boolean hitsItsClients() {
      return true;
    }
  }

  private record Gap(double millis, long failed) {}

  private final BenchOptions options;
  private final TemporaryNode cluster;
  private final CqlSession session;
  private final List<Node> nodes;
  private final NodeClients clients;
  private final PrintWriter out;
  private final Map<String, Double> metrics = new LinkedHashMap<>();

  private StrongFailover(
      BenchOptions options,
      TemporaryNode cluster,
      CqlSession session,
      List<Node> nodes,
      NodeClients clients,
      PrintWriter out) {
    this.options = options;
    this.cluster = cluster;
    this.session = session;
    this.nodes = nodes;
    this.clients = clients;
    this.out = out;
  }

  static Report run(String bench, BenchOptions options, PrintWriter out) {
    out.printf("A strong keyspace on %d nodes, %d clients of each%n", NODES, CLIENTS_PER_NODE);
    NodeSpec spec =
        TemporaryNode.spec(options)
            .withHeapMegabytes(Math.min(MAX_HEAP_MEGABYTES, options.heapMegabytes()));
    try (TemporaryNode cluster =
            options.isInOwnNetwork()
                ? TemporaryNode.startApart("failover", NODES, spec, out)
                : TemporaryNode.start("failover", NODES, spec, out);
        CqlSession session = cluster.connect()) {
      RowTable table = RowTable.createStrong(session, "strong", "batch", options);
      table.load();
      List<Node> nodes =
          cluster.nodes().stream().map(node -> driverNode(session, node.spec().address())).toList();
      List<Workload> workloads =
          nodes.stream().map(node -> table.updatesThrough(node, TIMEOUT)).toList();
      try (NodeClients clients = new NodeClients(workloads, CLIENTS_PER_NODE)) {
        StrongFailover run = new StrongFailover(options, cluster, session, nodes, clients, out);
        run.warmUp();
        run.all();
        return Report.of(bench, options, run.metrics);
      }
    }
  }

  /** For how long nobody could write. */
  static Bars figure(Report report) {
    Map<String, Map<String, Double>> series = new LinkedHashMap<>();
    for (String percentile : List.of("p50", "p99")) {
      Map<String, Double> bars = new LinkedHashMap<>();
      for (String event : EVENTS) {
        Double gap = report.metrics().get(event + "_" + percentile + unitOf(event));
        if (gap != null) {
          bars.put(event, gap * (isShort(event) ? 1 : MILLIS_PER_SECOND));
        }
      }
      series.put(percentile, bars);
    }
    return new Bars(
        "failover-strong", "longest time without a write", "ms, on a logarithmic axis", series);
  }

  private static boolean isShort(String event) {
    return event.equals("planned") || event.equals("quiet");
  }

  private static String unitOf(String event) {
    return isShort(event) ? "_ms" : "_s";
  }

  private static Node driverNode(CqlSession session, String address) {
    return session.getMetadata().getNodes().values().stream()
        .filter(node -> node.getEndPoint().toString().contains(address + ":"))
        .findFirst()
        .orElseThrow();
  }

  private void say(String sentence) {
    out.println("  " + sentence);
    out.flush();
  }

  /** All nodes come to lead, so that the code of leaders is loaded and compiled everywhere. */
  private void warmUp() {
    say("warming up for %d s, and three hand-overs".formatted(options.warmupSeconds()));
    Pause.millis(TimeUnit.SECONDS.toMillis(options.warmupSeconds()));
    for (int i = 0; i < NODES; i++) {
      var unused = observe(new HandOver());
    }
  }

  private void all() {
    Map<String, Event> events = new LinkedHashMap<>();
    events.put("quiet", new Nothing());
    events.put("planned", new HandOver());
    events.put("kill", new Kill());
    events.put("pause", new Suspension());
    if (options.isInOwnNetwork()) {
      events.put("partition", new Partition());
    } else {
      say("nodes can't be cut off from one another here: no partitions");
    }
    events.forEach(this::repeat);
  }

  private void repeat(String name, Event event) {
    int times = ROUNDS_OF_EVENTS * options.rounds();
    List<Gap> gaps = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      Gap gap = observe(event);
      gaps.add(gap);
      say(
          "%s %d of %d: no write for %.0f ms%s"
              .formatted(
                  name,
                  i + 1,
                  times,
                  gap.millis,
                  gap.failed == 0
                      ? ""
                      : ", %d requests failed: %s".formatted(gap.failed, clients.lastFailure())));
    }
    double[] sorted = gaps.stream().mapToDouble(Gap::millis).sorted().toArray();
    double unit = isShort(name) ? 1 : MILLIS_PER_SECOND;
    String ending = unitOf(name);
    metrics.put(name + "_p50" + ending, Gaps.percentile(sorted, 50) / unit);
    metrics.put(name + "_p99" + ending, Gaps.percentile(sorted, 99) / unit);
    metrics.put(name + "_times", (double) times);
    metrics.put(name + "_failed", (double) gaps.stream().mapToLong(Gap::failed).sum());
  }

  private Gap observe(Event event) {
    Pause.until("all replicas have caught up", PATIENCE_SECONDS, this::areAllWell);
    int leader = leader();
    List<NodeClients.OfNode> watched =
        IntStream.range(0, NODES)
            .filter(node -> node != leader || !event.hitsItsClients())
            .mapToObj(clients::of)
            .toList();
    Pause.millis(CALM_MILLIS);
    long failedBefore = watched.stream().mapToLong(NodeClients.OfNode::failed).sum();
    long start = System.nanoTime();
    watched.forEach(node -> node.successes().restart(start));
    event.strike(leader);
    Pause.until(
        "clients of all other nodes can write again",
        PATIENCE_SECONDS,
        () -> watched.stream().allMatch(node -> node.successes().hasSuccessSince(start)));
    Pause.millis(CALM_MILLIS);
    event.mend(leader);
    Pause.millis(CALM_MILLIS);
    long now = System.nanoTime();
    return new Gap(
        watched.stream()
            .mapToDouble(node -> node.successes().longestMillis(now))
            .max()
            .orElseThrow(),
        watched.stream().mapToLong(NodeClients.OfNode::failed).sum() - failedBefore);
  }

  private Row group(int node) {
    return session.execute(SimpleStatement.newInstance(GROUP).setNode(nodes.get(node))).one();
  }

  /** Whether every node answers, knows of one leader, and has applied almost all that it has. */
  private boolean areAllWell() {
    try {
      List<Row> seen = IntStream.range(0, NODES).mapToObj(this::group).toList();
      long newest = seen.stream().mapToLong(row -> row.getLong("applied_index")).max().orElse(0);
      return seen.stream()
              .allMatch(row -> row.getLong("applied_index") > newest - CAUGHT_UP_ENTRIES)
          && seen.stream().filter(row -> "LEADER".equals(row.getString("state"))).count() == 1
          && seen.stream().map(row -> row.getString("leader")).distinct().count() == 1;
    } catch (DriverException notYet) {
      return false;
    }
  }

  private int leader() {
    return IntStream.range(0, NODES)
        .filter(node -> "LEADER".equals(group(node).getString("state")))
        .findFirst()
        .orElseThrow(() -> new ToolException("Nobody leads the replica group."));
  }

  /** To know what gaps there are anyway. */
  private static final class Nothing implements Event {
    @Override
    public void strike(int leader) {
      // Nothing happens.
    }

    @Override
    public void mend(int leader) {
      // Nothing is broken.
    }

    @Override
    public boolean hitsItsClients() {
      return false;
    }
  }

  private final class HandOver implements Event {
    @Override
    public void strike(int leader) {
      int transferTarget = (leader + 1) % NODES;
      String address = cluster.nodes().get(transferTarget).spec().address();
      session.execute("ALTER KEYSPACE strong LEADER '" + address + "'");
    }

    @Override
    public void mend(int leader) {
      // Nothing is broken.
    }

    @Override
    public boolean hitsItsClients() {
      return false;
    }
  }

  private final class Kill implements Event {
    @Override
    public void strike(int leader) {
      cluster.nodes().get(leader).kill();
    }

    @Override
    public void mend(int leader) {
      cluster.nodes().get(leader).start();
    }
  }

  private final class Suspension implements Event {
    @Override
    public void strike(int leader) {
      cluster.nodes().get(leader).pause();
      Pause.millis(OUTAGE_MILLIS);
      cluster.nodes().get(leader).resume();
    }

    @Override
    public void mend(int leader) {
      // It goes on by itself.
    }
  }

  /** The leader and the others don't hear each other; clients reach all. */
  private static final class Partition implements Event {
    @Override
    public void strike(int leader) {
      others(leader).forEach(other -> cut(leader + 1, other));
      Pause.millis(OUTAGE_MILLIS);
      others(leader).forEach(other -> mend(leader + 1, other));
    }

    private static IntStream others(int leader) {
      return IntStream.rangeClosed(1, NODES).filter(host -> host != leader + 1);
    }

    private static void cut(int host, int other) {
      Network.cut(host, other);
      Network.cut(other, host);
    }

    private static void mend(int host, int other) {
      Network.mend(host, other);
      Network.mend(other, host);
    }

    @Override
    public void mend(int leader) {
      // The network is whole again.
    }
  }
}
