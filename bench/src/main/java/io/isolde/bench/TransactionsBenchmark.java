// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * What transactions cost, against the same statements on plain tables: on one node, and on three
 * with three replicas, at QUORUM.
 */
final class TransactionsBenchmark implements Benchmark {
  /** Three nodes and their clients have to share a small machine. */
  private static final int HEAP_MEGABYTES_OF_THREE = 1024;

  /** From one client alone to more than the nodes can do. */
  private static final List<Integer> IN_FLIGHT = List.of(1, 16, 64, 256);

  private static final Set<String> AT_SEVERAL_LOADS =
      Set.of(
          "plain_write",
          "autocommit_write",
          "ten_plain_updates",
          "ten_updates",
          "plain_transfer",
          "transfer");

  private static final List<List<String>> RATIOS =
      List.of(
          List.of("autocommit_write_vs_plain", "autocommit_write", "plain_write"),
          List.of("autocommit_write_vs_lwt", "autocommit_write", "lwt_write"),
          List.of("autocommit_read_vs_plain", "autocommit_read", "plain_read"),
          List.of("ten_updates_vs_plain", "ten_updates", "ten_plain_updates"),
          List.of("ten_updates_one_by_one_vs_plain", "ten_updates_one_by_one", "ten_plain_updates"),
          List.of("transfer_vs_plain", "transfer", "plain_transfer"),
          List.of("transfer_one_by_one_vs_plain", "transfer_one_by_one", "plain_transfer"),
          List.of("transfer_vs_scalardb", "transfer", "scalardb_transfer"),
          List.of("transfer_vs_accord", "transfer", "accord_transfer"));

  private final String name;
  private final String where;
  private final List<Integer> clusters;

  private TransactionsBenchmark(String name, String where, List<Integer> clusters) {
    this.name = name;
    this.where = where;
    this.clusters = clusters;
  }

  /** The whole of it, and its parts. */
  static List<Benchmark> all() {
    return List.of(
        new TransactionsBenchmark("transactions", "on one node and on three", List.of(1, 3)),
        new TransactionsBenchmark("transactions-1n", "on one node", List.of(1)),
        new TransactionsBenchmark("transactions-3n", "on three nodes", List.of(3)));
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String summary() {
    return "transactions against plain statements and LWT, " + where;
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    return clusters.stream()
        .map(nodes -> run(nodes, options, out))
        .reduce(Report::and)
        .orElseThrow();
  }

  private Report run(int nodes, BenchOptions options, PrintWriter out) {
    out.printf("Cassandra with Isolde, %d nodes%n", nodes);
    NodeSpec spec = TemporaryNode.spec(options).withHeapMegabytes(heapMegabytes(nodes, options));
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    Map<String, Double> latencies;
    try (TemporaryNode cluster = TemporaryNode.start("bench", nodes, spec, out);
        CqlSession session = cluster.connect()) {
      List<NodeTool> tools = cluster.nodes().stream().map(LocalNode::nodeTool).toList();
      try (ScalarDbProcess scalarDb = startScalarDb(cluster, options, out)) {
        RowTable plain = RowTable.create(session, "plain", options);
        RowTable transactional = RowTable.createTransactional(session, "transactional", options);
        List<Case> cases = new ArrayList<>(cases(nodes, session, tools, plain, transactional));
        for (Case each : List.copyOf(cases)) {
          if (AT_SEVERAL_LOADS.contains(each.name().replaceFirst("_\\dn$", ""))) {
            IN_FLIGHT.forEach(inFlight -> cases.add(each.at(inFlight)));
          }
        }
        if (scalarDb != null) {
          cases.add(Case.elsewhere("scalardb_transfer_%dn".formatted(nodes), scalarDb));
        }
        samples.putAll(new Rounds(options, tools, out).run(cases));
        latencies =
            new SingleInFlight("", "plain", "_%dn".formatted(nodes))
                .measure(transactional.updates(), plain.updates(), options, out);
      } finally {
        tools.forEach(NodeTool::close);
      }
    }
    Optional<Path> accord = Peers.folder(Peers.ACCORD_PROPERTY);
    if (accord.isPresent()) { // Now that the other nodes are gone, which would want the same cores.
      samples.putAll(
          AccordTransfers.measure(
              accord.get(), nodes, heapMegabytes(nodes, options), options, out));
    } else {
      out.printf("  without Accord: %s names no folder%n", Peers.ACCORD_PROPERTY);
    }
    List<Ratio> ratios =
        ratios(nodes).stream().filter(ratio -> samples.containsKey(ratio.to())).toList();
    return Report.of(name(), MachineDescription.ofThisMachine(), options, samples, ratios)
        .with(CpuMetrics.of(samples))
        .with(latencies);
  }

  private static int heapMegabytes(int nodes, BenchOptions options) {
    return nodes == 1
        ? options.heapMegabytes()
        : Math.min(HEAP_MEGABYTES_OF_THREE, options.heapMegabytes());
  }

  /** Null if its jars are not there. */
  private static ScalarDbProcess startScalarDb(
      TemporaryNode cluster, BenchOptions options, PrintWriter out) {
    Optional<Path> jars = Peers.folder(Peers.SCALARDB_PROPERTY);
    if (jars.isEmpty()) {
      out.printf("  without ScalarDB: %s names no folder%n", Peers.SCALARDB_PROPERTY);
      return null;
    }
    return new ScalarDbProcess(jars.get(), cluster.nodes(), options);
  }

  private static List<Case> cases(
      int nodes, CqlSession session, List<NodeTool> tools, RowTable plain, RowTable transactional) {
    List.of(plain, transactional).forEach(RowTable::load);
    tools.forEach(tool -> tool.flush(RowTable.KEYSPACE));
    String of = "_" + nodes + "n";
    MultiStatements plainOnes = MultiStatements.plain(session, plain);
    MultiStatements transactions = MultiStatements.transactions(session, transactional);
    MultiStatements oneByOne = MultiStatements.oneByOne(session, transactional);
    return List.of(
        new Case("plain_write" + of, plain.updates()),
        new Case("autocommit_write" + of, transactional.updates()),
        new Case("lwt_write" + of, plain.conditionalUpdates()),
        new Case("plain_read" + of, plain.reads()),
        new Case("autocommit_read" + of, transactional.reads()),
        new Case("ten_plain_updates" + of, plainOnes.tenUpdates()),
        new Case("ten_updates" + of, transactions.tenUpdates()),
        new Case("ten_updates_one_by_one" + of, oneByOne.tenUpdates()),
        new Case("plain_transfer" + of, plainOnes.transfer()),
        new Case("transfer" + of, transactions.transfer()),
        new Case("transfer_one_by_one" + of, oneByOne.transfer()));
  }

  /** Those of peers that may be absent included. */
  static List<Ratio> ratios(int nodes) {
    String of = "_" + nodes + "n";
    List<Ratio> ratios = new ArrayList<>();
    RATIOS.forEach(names -> ratios.add(ratio(names, of)));
    for (int inFlight : IN_FLIGHT) {
      RATIOS.stream()
          .filter(names -> AT_SEVERAL_LOADS.containsAll(names.subList(1, 3)))
          .forEach(names -> ratios.add(ratio(names, of + "_at_" + inFlight)));
    }
    return List.copyOf(ratios);
  }

  private static Ratio ratio(List<String> names, String suffix) {
    return new Ratio(names.get(0) + suffix, names.get(1) + suffix, names.get(2) + suffix);
  }
}
