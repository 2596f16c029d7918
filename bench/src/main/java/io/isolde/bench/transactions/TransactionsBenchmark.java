// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.transactions;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Benchmark;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Ratio;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Sample;
import io.isolde.bench.kit.SingleInFlight;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.bench.peers.AccordTransfers;
import io.isolde.bench.peers.ScalarDbProcess;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What transactions cost, against the same statements on plain tables: on one node, and on three
 * with three replicas, at QUORUM.
 */
public final class TransactionsBenchmark {

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

  private static final List<Ratio> RATIOS =
      List.of(
          new Ratio("autocommit_write_vs_plain", "autocommit_write", "plain_write"),
          new Ratio("autocommit_write_vs_lwt", "autocommit_write", "lwt_write"),
          new Ratio("autocommit_read_vs_plain", "autocommit_read", "plain_read"),
          new Ratio("ten_updates_vs_plain", "ten_updates", "ten_plain_updates"),
          new Ratio(
              "ten_updates_one_by_one_vs_plain", "ten_updates_one_by_one", "ten_plain_updates"),
          new Ratio("transfer_vs_plain", "transfer", "plain_transfer"),
          new Ratio("transfer_one_by_one_vs_plain", "transfer_one_by_one", "plain_transfer"),
          new Ratio("transfer_vs_scalardb", "transfer", "scalardb_transfer"),
          new Ratio("transfer_vs_accord", "transfer", "accord_transfer"));

  private TransactionsBenchmark() {}

  /** The benchmark on so many nodes. */
  public static Benchmark.Part onNodes(int nodes) {
    return run -> run(nodes, run);
  }

  private static Report run(int nodes, Run run) {
    run.say("Cassandra with Isolde, %d nodes".formatted(nodes));
    String suffix = "_%dn".formatted(nodes);
    BenchOptions ofNodes = run.options().onNodes(nodes);
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    Map<String, Double> latencies = new LinkedHashMap<>();
    try (TemporaryNode cluster =
            TemporaryNode.start("bench", nodes, TemporaryNode.spec(ofNodes), run.out());
        ScalarDbProcess scalarDb = ScalarDbProcess.startIfThere(cluster.nodes(), run)) {
      CqlSession session = cluster.session();
      RowTable plain = RowTable.create(cluster, "plain", run.options()).load();
      RowTable transactional =
          RowTable.createTransactional(cluster, "transactional", run.options()).load();
      cluster.flush(RowTable.KEYSPACE);
      Cases cases = cases(suffix, session, plain, transactional);
      if (scalarDb != null) {
        cases.add("scalardb_transfer" + suffix, scalarDb);
      }
      samples.putAll(run.samples(cluster.tools(), cases));
      latencies.putAll(
          new SingleInFlight("", "plain", suffix)
              .measure(transactional.updates(), plain.updates(), run));
    }
    // Now that the other nodes are gone, which would want the same cores.
    samples.putAll(AccordTransfers.measureIfThere("accord_transfer" + suffix, nodes, ofNodes, run));
    List<Ratio> ratios =
        ratios(suffix).stream().filter(ratio -> samples.containsKey(ratio.to())).toList();
    return run.reportWithCpu(samples, ratios).with(latencies);
  }

  private static Cases cases(
      String suffix, CqlSession session, RowTable plain, RowTable transactional) {
    MultiStatements plainOnes = MultiStatements.plain(session, plain);
    MultiStatements transactions = MultiStatements.transactions(session, transactional);
    MultiStatements oneByOne = MultiStatements.oneByOne(session, transactional);
    Cases cases =
        new Cases()
            .add("plain_write" + suffix, plain.updates())
            .add("autocommit_write" + suffix, transactional.updates())
            .add("lwt_write" + suffix, plain.conditionalUpdates(null))
            .add("plain_read" + suffix, plain.reads())
            .add("autocommit_read" + suffix, transactional.reads())
            .add("ten_plain_updates" + suffix, plainOnes.tenUpdates())
            .add("ten_updates" + suffix, transactions.tenUpdates())
            .add("ten_updates_one_by_one" + suffix, oneByOne.tenUpdates())
            .add("plain_transfer" + suffix, plainOnes.transfer())
            .add("transfer" + suffix, transactions.transfer())
            .add("transfer_one_by_one" + suffix, oneByOne.transfer());
    cases.all().stream()
        .filter(each -> AT_SEVERAL_LOADS.contains(each.name().replace(suffix, "")))
        .forEach(each -> IN_FLIGHT.forEach(inFlight -> cases.add(each.at(inFlight))));
    return cases;
  }

  /** Those of peers that may be absent included. */
  static List<Ratio> ratios(String suffix) {
    List<Ratio> ratios = new ArrayList<>();
    RATIOS.forEach(ratio -> ratios.add(ratio.withSuffix(suffix)));
    for (int inFlight : IN_FLIGHT) {
      RATIOS.stream()
          .filter(ratio -> AT_SEVERAL_LOADS.containsAll(List.of(ratio.of(), ratio.to())))
          .forEach(ratio -> ratios.add(ratio.withSuffix(suffix + "_at_" + inFlight)));
    }
    return ratios;
  }
}
