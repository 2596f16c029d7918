// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.transactions;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Benchmark;
import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Ratio;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Sample;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.bench.peers.AccordTransfers;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Transfers as blocks: beside the same statements on plain tables, transactions of three requests,
 * and Accord, to which the very same text is sent. On many rows, one at a time, and on few rows
 * that all clients want.
 */
public final class BlocksBenchmark {
  private static final int HOT_ROWS = 4;
  private static final int AT_HOT_ROWS = 16;

  private BlocksBenchmark() {}

  /** The benchmark on so many nodes. */
  public static Benchmark.Part onNodes(int nodes) {
    return run -> run(nodes, run);
  }

  private static Report run(int nodes, Run run) {
    run.say("Cassandra with Isolde, %d nodes".formatted(nodes));
    String suffix = "_%dn".formatted(nodes);
    BenchOptions options = run.options().onNodes(nodes);
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    Cases cases = new Cases();
    try (TemporaryNode cluster =
        TemporaryNode.start("bench", nodes, TemporaryNode.spec(options), run.out())) {
      BenchOptions hot = options.withRows(HOT_ROWS, options.rowBytes());
      RowTable plain = RowTable.create(cluster, "plain", options).load();
      RowTable ours = RowTable.createTransactional(cluster, "transactional", options).load();
      RowTable hotOurs = RowTable.createTransactional(cluster, "hot", hot).load();
      cluster.flush(RowTable.KEYSPACE);
      CqlSession session = cluster.session();
      Case alone =
          new Case("plain_transfer" + suffix, MultiStatements.plain(session, plain).transfer());
      Case block = new Case("block_transfer" + suffix, AccordTransfers.in(session, ours));
      Case several =
          new Case("transfer" + suffix, MultiStatements.transactions(session, ours).transfer());
      Case hotBlock = new Case("hot_block_transfer" + suffix, AccordTransfers.in(session, hotOurs));
      Case hotSeveral =
          new Case(
              "hot_transfer" + suffix, MultiStatements.transactions(session, hotOurs).transfer());
      cases.pair(alone, block, "plain");
      cases.add(several).ratio(block.name() + "_vs_several", block.name(), several.name());
      cases.pair(several.at(1), block.at(1), "several");
      cases.pair(hotSeveral.at(AT_HOT_ROWS), hotBlock.at(AT_HOT_ROWS), "several");
      samples.putAll(run.samples(cluster.tools(), cases));
    }
    String peer = "accord_transfer" + suffix;
    samples.putAll(AccordTransfers.measureIfThere(peer, nodes, options, run));
    List<Ratio> ratios = new ArrayList<>(cases.ratios());
    if (samples.containsKey(peer)) {
      String block = "block_transfer" + suffix;
      ratios.add(new Ratio(block + "_vs_accord", block, peer));
    }
    return run.reportWithCpu(samples, ratios);
  }
}
