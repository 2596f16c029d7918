// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Processes;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Rounds;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Sample;
import io.isolde.bench.kit.Spread;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * How soon many watchers of a row hear of its change, as in section 6.7 of the thesis on replicated
 * LSM trees. The next change is made when all have heard of the last one.
 *
 * <p>Latency is from the sending of a change to its notification, for both systems; the interval is
 * that between two notifications of a watcher, the thesis's latency.
 */
public final class NotificationsBenchmark implements AutoCloseable {
  private static final int NODES = 3;
  private static final String PORT = "7314";
  private static final Duration WARM_UP_STEP = Duration.ofSeconds(1);

  static final String BALANCED = "balanced";
  static final String UNBALANCED = "unbalanced";
  static final String ONE = "one_server";
  static final String ZOOKEEPER = "zookeeper_";

  /** How many there are in the cases whose names do not say it. */
  static final String WATCHERS = "watchers";

  private final Run run;
  private final TemporaryNode one;
  private final TemporaryNode three;
  private final WatcherLoops loops = new WatcherLoops();
  private final Gate gate = new Gate();
  private final List<WatchCase> cases = new ArrayList<>();

  /** The same cases with 1, 10, 100 and so on of their watchers. */
  private final List<WatchCase> smallerCases = new ArrayList<>();

  /** None, or one server and three. */
  private final List<ZooKeeperEnsemble> ensembles = new ArrayList<>();

  private final List<Writer> writers = new ArrayList<>();

  /** The case whose watchers are connected; null if there is none. */
  private WatchCase connected;

  private NotificationsBenchmark(Run run, TemporaryNode one, TemporaryNode three) {
    this.run = run;
    this.one = one;
    this.three = three;
  }

  /** Runs it. */
  public static Report run(Run run) {
    BenchOptions options = run.options().onNodes(NODES);
    NodeSpec spec = TemporaryNode.spec(options).withIsoldeSetting("push_port", PORT);
    try (TemporaryNode one = TemporaryNode.start("notifications-1n", 1, spec, run.out());
        TemporaryNode three = TemporaryNode.start("notifications-3n", NODES, spec, run.out());
        NotificationsBenchmark benchmark = new NotificationsBenchmark(run, one, three)) {
      benchmark.addIsolde();
      benchmark.addZooKeeper(options.heapMegabytes());
      return benchmark.report();
    }
  }

  private void addIsolde() {
    Writer alone = new IsoldeWriter(one);
    Writer replicated = new IsoldeWriter(three);
    List<String> all = three.nodes().stream().map(NotificationsBenchmark::pushAddress).toList();
    add(ONE, 1, alone, List.of(pushAddress(one.node())), true);
    add(UNBALANCED, NODES, replicated, List.of(follower()), false);
    add(BALANCED, NODES, replicated, all, true);
  }

  /** A node that does not lead the oracle, as most don't. */
  private String follower() {
    String leader = three.session().execute("SELECT leader FROM isolde.oracle").one().getString(0);
    run.say("  %s leads the oracle".formatted(leader));
    return three.nodes().stream()
        .filter(node -> !node.spec().address().equals(leader))
        .map(NotificationsBenchmark::pushAddress)
        .findFirst()
        .orElseThrow();
  }

  private static String pushAddress(LocalNode node) {
    return node.spec().address() + ":" + PORT;
  }

  private void add(
      String name, int nodes, Writer writer, List<String> addresses, boolean isMoving) {
    add(
        name,
        nodes,
        writer,
        arrivals ->
            new PushWatcher(
                new PushWatcher.Plan(
                    IsoldeWriter.statement(0), addresses, isMoving, gate, arrivals::arrived),
                loops.next()));
  }

  private void add(String name, int nodes, Writer writer, Function<Arrivals, Watcher> kind) {
    int all = run.options().watchers();
    cases.add(new WatchCase(name, all, nodes, writer, kind));
    for (int some = 1; some < all; some *= 10) {
      smallerCases.add(new WatchCase(withWatchers(name, some), some, nodes, writer, kind));
    }
  }

  /** The name of a case with fewer watchers than the benchmark's. */
  static String withWatchers(String name, int some) {
    return name + "_" + some;
  }

  private void addZooKeeper(int heapMegabytes) {
    Optional<Path> jars = ZooKeeperEnsemble.jars();
    if (jars.isEmpty()) {
      run.say("  without ZooKeeper: its jars are not there");
      return;
    }
    ZooKeeperEnsemble alone = new ZooKeeperEnsemble(jars.get(), 1, heapMegabytes);
    ensembles.add(alone);
    ZooKeeperEnsemble ensemble = new ZooKeeperEnsemble(jars.get(), NODES, heapMegabytes);
    ensembles.add(ensemble);
    Writer writer = alone.awaitWriter(loops);
    Writer replicated = ensemble.awaitWriter(loops);
    writers.addAll(List.of(writer, replicated));
    addZooKeeper(ONE, alone, 1, writer);
    addZooKeeper(UNBALANCED, ensemble, 1, replicated);
    addZooKeeper(BALANCED, ensemble, NODES, replicated);
  }

  /** ZooKeeper moves nobody: its watchers are balanced if they come to servers in turn. */
  private void addZooKeeper(String name, ZooKeeperEnsemble ensemble, int servers, Writer writer) {
    RoundRobin order = new RoundRobin(servers);
    add(
        ZOOKEEPER + name,
        ensemble.addresses().size(),
        writer,
        arrivals ->
            new ZooKeeperWatcher(
                ensemble.addresses().get(order.next()), loops.next(), gate, arrivals));
  }

  private Report report() {
    Processes processes = processes();
    warmUp(processes);
    Map<String, List<Sample>> samples = measured(cases, processes);
    samples.putAll(measured(smallerCases, processes));
    Map<String, Double> metrics = new LinkedHashMap<>();
    metrics.put(WATCHERS, (double) run.options().watchers());
    allCases().forEach(each -> metrics.putAll(each.metrics()));
    metrics.putAll(memory());
    run.say("  A node is killed, and comes back");
    metrics.putAll(new KillAndRestart(run, three, named(BALANCED)).observe());
    named(BALANCED).close();
    metrics.putAll(verdicts());
    return withRatios(run.report(samples, List.of()).with(metrics), samples);
  }

  private Stream<WatchCase> allCases() {
    return Stream.concat(cases.stream(), smallerCases.stream());
  }

  private Map<String, List<Sample>> measured(List<WatchCase> some, Processes processes) {
    List<Case> measured =
        some.stream()
            .map(
                each ->
                    new Case(each.name(), (unused, duration) -> each.measure(duration))
                        .after(() -> connect(each)))
            .toList();
    Map<String, List<Sample>> samples =
        new Rounds(run, processes).measure(round -> Rounds.inOrderOf(round, measured));
    disconnect();
    return samples;
  }

  private Processes processes() {
    List<NodeTool> tools = Stream.concat(one.tools().stream(), three.tools().stream()).toList();
    return ZooKeeperEnsemble.with(Processes.ofNodes(tools), ensembles);
  }

  private void connect(WatchCase next) {
    if (connected != next) {
      disconnect();
      connected = next;
      next.open();
      run.say("  %s: watchers are at %s".formatted(next.name(), next.population().spread()));
    }
  }

  private void disconnect() {
    if (connected != null) {
      connected.close();
      connected = null;
    }
  }

  private void warmUp(Processes processes) {
    run.say("  warming up, each case for %d s".formatted(run.options().warmupSeconds()));
    for (WatchCase each : cases) {
      connect(each);
      for (int second = 0; second < run.options().warmupSeconds(); second++) {
        each.warmUp(WARM_UP_STEP);
        processes.awaitCalm();
      }
    }
  }

  private WatchCase named(String name) {
    return cases.stream().filter(each -> each.name().equals(name)).findFirst().orElseThrow();
  }

  private Map<String, Double> memory() {
    int watchers = run.options().watchers();
    run.say("  The memory of %d watchers".formatted(watchers));
    Map<String, Double> bytes = new LinkedHashMap<>();
    NodeTool node = one.tools().get(0);
    bytes.put(
        "bytes_per_watcher",
        WatcherMemory.bytesPerWatcher(
            named(ONE), watchers, () -> WatcherMemory.liveHeapBytes(node)));
    if (!ensembles.isEmpty()) {
      bytes.put(
          ZOOKEEPER + "bytes_per_watcher",
          WatcherMemory.bytesPerWatcher(
              named(ZOOKEEPER + ONE), watchers, () -> ensembles.get(0).liveHeapBytes(0)));
    }
    return bytes;
  }

  private Map<String, Double> verdicts() {
    Map<String, Double> numbers = new LinkedHashMap<>();
    numbers.putAll(verdict(false).metrics(""));
    if (!ensembles.isEmpty()) {
      numbers.putAll(verdict(true).metrics(ZOOKEEPER));
    }
    return numbers;
  }

  private DeliveryCheck.Verdict verdict(boolean isOfZooKeeper) {
    return allCases()
        .filter(each -> each.name().startsWith(ZOOKEEPER) == isOfZooKeeper)
        .map(WatchCase::verdict)
        .reduce(DeliveryCheck.Verdict.NOTHING, DeliveryCheck.Verdict::and);
  }

  /** Of mean latencies: less is better. */
  private Report withRatios(Report report, Map<String, List<Sample>> samples) {
    Report all =
        report
            .withRatio("balanced_vs_unbalanced", ratio(samples, BALANCED, UNBALANCED))
            .withRatio("balanced_vs_one_server", ratio(samples, BALANCED, ONE));
    if (ensembles.isEmpty()) {
      return all;
    }
    return all.withRatio("balanced_vs_zookeeper", ratio(samples, BALANCED, ZOOKEEPER + BALANCED))
        .withRatio(
            "balanced_vs_zookeeper_unbalanced", ratio(samples, BALANCED, ZOOKEEPER + UNBALANCED))
        .withRatio("one_server_vs_zookeeper", ratio(samples, ONE, ZOOKEEPER + ONE));
  }

  private static Spread ratio(Map<String, List<Sample>> samples, String of, String to) {
    List<Double> quotients = new ArrayList<>();
    for (int round = 0; round < samples.get(of).size(); round++) {
      quotients.add(
          samples.get(of).get(round).measurement().meanMillis()
              / samples.get(to).get(round).measurement().meanMillis());
    }
    return Spread.of(quotients);
  }

  @Override
  public void close() {
    writers.forEach(Writer::close);
    loops.close();
    ensembles.forEach(ZooKeeperEnsemble::close);
  }
}
