// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.failover;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.metadata.Node;
import io.isolde.bench.charts.Bars;
import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.Network;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.ToolException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

/**
 * For how long nobody can write to a strong keyspace when its leader dies, hangs, is cut off or
 * hands over.
 *
 * <p>Each client talks to one node. A gap is the longest time without a success of the clients of a
 * node, from the event until all is well again. Of the nodes that are not hit themselves, the one
 * with the longest counts.
 *
 * <p>Other clients know the leader, as in section 6.9 of the thesis on replicated LSM trees. Their
 * gap has three parts: a node notices that the leader is gone, one is elected, and the clients
 * learn of it: from when a node leads to their first success after that.
 */
public final class StrongFailover implements AutoCloseable {
  private static final int NODES = 3;
  private static final int CLIENTS_PER_NODE = 8;
  private static final int MAX_HEAP_MEGABYTES = 1024;
  private static final int ROUNDS_OF_EVENTS = 4;
  private static final int PATIENCE_SECONDS = 120;
  private static final double MILLIS_PER_SECOND = 1e3;
  private static final List<String> EVENTS =
      List.of("quiet", "planned", "kill", "pause", "partition");

  /** A request that takes longer has failed. */
  private static final Duration TIMEOUT = Duration.ofSeconds(2);

  /**
   * Short against the gaps, long enough that the nodes are not busy all the time: how soon another
   * takes over is asked, and a machine without a free core would answer how long its queues are.
   */
  private static final long AFTER_SUCCESS_MILLIS = 20;

  private static final String GROUP =
      "SELECT state, leader, applied_index FROM isolde.replica_groups WHERE keyspace_name ="
          + " 'strong'";

  /** How far a replica may be behind where it counts as well again; writes go on meanwhile. */
  private static final long CAUGHT_UP_ENTRIES = 200;

  private final Run run;
  private final TemporaryNode cluster;
  private final List<Node> nodes;
  private final List<Clients> clients = new ArrayList<>();
  private final List<RoutedClients> routed;
  private final Map<String, Double> metrics = new LinkedHashMap<>();
  private final Event<Integer> handOver = Event.harmless(this::handOver);

  private StrongFailover(Run run, TemporaryNode cluster, RowTable table) {
    this.run = run;
    this.cluster = cluster;
    this.nodes = cluster.nodes().stream().map(node -> cluster.node(node.spec().address())).toList();
    nodes.forEach(
        node ->
            clients.add(
                new Clients(table.updates(node, TIMEOUT), CLIENTS_PER_NODE, AFTER_SUCCESS_MILLIS)));
    this.routed =
        List.of(
            routed("routed", cluster.connectRoutedWithoutHedging(), table),
            routed("hedged", cluster.connectRouted(), table));
  }

  private RoutedClients routed(String prefix, CqlSession session, RowTable table) {
    return new RoutedClients(
        prefix, session, table, run.options(), TIMEOUT, CLIENTS_PER_NODE, AFTER_SUCCESS_MILLIS);
  }

  /** Runs it. */
  public static Report run(Run run) {
    run.say("A strong keyspace on %d nodes, %d clients of each".formatted(NODES, CLIENTS_PER_NODE));
    NodeSpec spec = TemporaryNode.spec(run.options().withHeapUpTo(MAX_HEAP_MEGABYTES));
    try (TemporaryNode cluster =
        run.options().isInOwnNetwork()
            ? TemporaryNode.startApart("failover", NODES, spec, run.out())
            : TemporaryNode.start("failover", NODES, spec, run.out())) {
      RowTable table = RowTable.createStrong(cluster, "strong", "batch", run.options()).load();
      try (StrongFailover failover = new StrongFailover(run, cluster, table)) {
        failover.warmUp();
        failover.all();
        return run.report(failover.metrics);
      }
    }
  }

  /** Draws for how long nobody could write, if that was measured. */
  public static List<Bars> figures(Report report) {
    Map<String, Map<String, Double>> series = new LinkedHashMap<>();
    for (String percentile : List.of("p50", "p99")) {
      Map<String, Double> bars = new LinkedHashMap<>();
      for (String event : EVENTS) {
        Double gap = report.metrics().get(event + "_" + percentile + unitOf(event));
        if (gap != null) {
          bars.put(event, gap * millisOf(event));
        }
      }
      series.put(percentile, bars);
    }
    return List.of(new Bars("failover-strong", "longest time without a write", "ms", series));
  }

  private static boolean isShort(String event) {
    return event.equals("planned") || event.equals("quiet");
  }

  private static String unitOf(String event) {
    return isShort(event) ? "_ms" : "_s";
  }

  private static double millisOf(String event) {
    return isShort(event) ? 1 : MILLIS_PER_SECOND;
  }

  /** All nodes come to lead, so that the code of leaders is loaded and compiled everywhere. */
  private void warmUp() {
    int seconds = run.options().warmupSeconds();
    run.say("  warming up for %d s, and three hand-overs".formatted(seconds));
    Pause.millis(TimeUnit.SECONDS.toMillis(seconds));
    for (int i = 0; i < NODES; i++) {
      var unused = observe(handOver);
    }
  }

  private void all() {
    repeat("quiet", Event.harmless(leader -> {})); // To know what gaps there are anyway.
    repeat("planned", handOver);
    repeat("kill", Event.hard(leader -> node(leader).kill(), leader -> node(leader).start()));
    repeat("pause", Event.hard(this::suspend, leader -> {}));
    if (run.options().isInOwnNetwork()) {
      repeat("partition", Event.hard(StrongFailover::cutOff, leader -> {}));
    } else {
      run.say("  nodes can't be cut off from one another here: no partitions");
    }
  }

  private void repeat(String name, Event<Integer> event) {
    int times = ROUNDS_OF_EVENTS * run.options().rounds();
    Gaps gaps = new Gaps();
    routed.forEach(RoutedClients::begin);
    for (int i = 1; i <= times; i++) {
      Gaps.Gap gap = observeAll(event);
      gaps.add(gap);
      run.say(
          "  %s %d of %d: no write for %.0f ms, %d requests failed (last: %s); %s"
              .formatted(
                  name,
                  i,
                  times,
                  gap.longestMillis(),
                  gap.failed(),
                  lastFailures(),
                  routed.stream().map(RoutedClients::last).toList()));
    }
    metrics.put(name + "_p50" + unitOf(name), gaps.percentileMillis(50) / millisOf(name));
    metrics.put(name + "_p99" + unitOf(name), gaps.percentileMillis(99) / millisOf(name));
    metrics.put(name + "_times", (double) times);
    metrics.put(name + "_failed", (double) gaps.failed());
    routed.forEach(each -> metrics.putAll(each.metrics(name)));
  }

  /** Looks at clients that know the leader during an event, too. */
  private Gaps.Gap observeAll(Event<Integer> event) {
    AtomicReference<Turnover> turnover = new AtomicReference<>();
    Event<Integer> watched =
        new Event<>(
            leader -> {
              routed.forEach(RoutedClients::restart);
              turnover.set(turnover(leader));
              event.strike().accept(leader);
            },
            event.mend(),
            event.hitsItsClients());
    Gaps.Gap gap = observe(watched);
    try (Turnover seen = turnover.get()) {
      routed.forEach(each -> each.add(seen));
    }
    return gap;
  }

  private Turnover turnover(int leader) {
    List<Node> others =
        IntStream.range(0, NODES).filter(node -> node != leader).mapToObj(nodes::get).toList();
    return new Turnover(
        cluster.session(),
        GROUP,
        node(leader).spec().address(),
        others,
        routed.stream().flatMap(each -> each.clocks().stream()).toList());
  }

  private Gaps.Gap observe(Event<Integer> event) {
    Pause.until("all replicas have caught up", PATIENCE_SECONDS, this::areAllWell);
    int leader = leader();
    List<Clients> watched =
        IntStream.range(0, NODES)
            .filter(node -> node != leader || !event.hitsItsClients())
            .mapToObj(clients::get)
            .toList();
    return Gaps.observe(
        event,
        leader,
        watched.stream().map(Clients::successes).toList(),
        () -> watched.stream().mapToLong(Clients::failed).sum());
  }

  private List<String> lastFailures() {
    return clients.stream().map(Clients::lastFailure).distinct().toList();
  }

  private Row group(int node) {
    return cluster
        .session()
        .execute(SimpleStatement.newInstance(GROUP).setNode(nodes.get(node)))
        .one();
  }

  /** Whether every node answers, knows of one leader, and has applied almost all that it has. */
  private boolean areAllWell() {
    try {
      List<Row> seen = IntStream.range(0, NODES).mapToObj(this::group).toList();
      long newest = seen.stream().mapToLong(row -> row.getLong("applied_index")).max().orElse(0);
      return seen.stream()
              .allMatch(row -> row.getLong("applied_index") > newest - CAUGHT_UP_ENTRIES)
          && seen.stream().filter(StrongFailover::isLeader).count() == 1
          && seen.stream().map(row -> row.getString("leader")).distinct().count() == 1;
    } catch (DriverException notYet) {
      return false;
    }
  }

  private static boolean isLeader(Row group) {
    return "LEADER".equals(group.getString("state"));
  }

  private int leader() {
    return IntStream.range(0, NODES)
        .filter(node -> isLeader(group(node)))
        .findFirst()
        .orElseThrow(() -> new ToolException("Nobody leads the replica group."));
  }

  private LocalNode node(int number) {
    return cluster.nodes().get(number);
  }

  private void handOver(int leader) {
    String address = node((leader + 1) % NODES).spec().address();
    cluster.session().execute("ALTER KEYSPACE strong LEADER '" + address + "'");
  }

  private void suspend(int leader) {
    node(leader).pause();
    Pause.millis(Gaps.OUTAGE_MILLIS);
    node(leader).resume();
  }

  /** The leader and the others don't hear each other; clients reach all. */
  private static void cutOff(int leader) {
    int host = leader + 1;
    int[] others = IntStream.rangeClosed(1, NODES).filter(other -> other != host).toArray();
    for (int other : others) {
      Network.cut(host, other);
      Network.cut(other, host);
    }
    Pause.millis(Gaps.OUTAGE_MILLIS);
    for (int other : others) {
      Network.mend(host, other);
      Network.mend(other, host);
    }
  }

  @Override
  public void close() {
    clients.forEach(Clients::close);
    routed.forEach(RoutedClients::close);
  }
}
