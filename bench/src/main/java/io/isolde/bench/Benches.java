// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import io.isolde.bench.builds.BuildsBenchmark;
import io.isolde.bench.charts.Picture;
import io.isolde.bench.distance.RoundTripsBenchmark;
import io.isolde.bench.failover.OracleFailover;
import io.isolde.bench.failover.StrongFailover;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Benchmark;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.mail.MailBenchmark;
import io.isolde.bench.mail.MailFigures;
import io.isolde.bench.mail.UidBenchmark;
import io.isolde.bench.notifications.HandOverBenchmark;
import io.isolde.bench.notifications.NotificationFigures;
import io.isolde.bench.notifications.NotificationsBenchmark;
import io.isolde.bench.notifications.WatchedWritesBenchmark;
import io.isolde.bench.oracle.CurveFigures;
import io.isolde.bench.oracle.OracleCore;
import io.isolde.bench.oracle.OracleCurves;
import io.isolde.bench.oracle.OracleWire;
import io.isolde.bench.overhead.CollectionBenchmark;
import io.isolde.bench.overhead.PluginBenchmark;
import io.isolde.bench.overhead.VersionsBenchmark;
import io.isolde.bench.scaling.ScalingBenchmark;
import io.isolde.bench.snapshots.SnapshotFigures;
import io.isolde.bench.snapshots.SnapshotsBenchmark;
import io.isolde.bench.strong.LeadershipBenchmark;
import io.isolde.bench.strong.ReplicationBenchmark;
import io.isolde.bench.strong.RoutingBenchmark;
import io.isolde.bench.tpcc.TpccBenchmark;
import io.isolde.bench.transactions.BlocksBenchmark;
import io.isolde.bench.transactions.ConditionsBenchmark;
import io.isolde.bench.transactions.HotRowBenchmark;
import io.isolde.bench.transactions.IndexesBenchmark;
import io.isolde.bench.transactions.LargeCommitsBenchmark;
import io.isolde.bench.transactions.MemoryBenchmark;
import io.isolde.bench.transactions.TransactionsBenchmark;
import io.isolde.bench.transactions.UniqueBenchmark;
import io.isolde.bench.ycsb.YcsbBenchmark;
import io.isolde.cluster.ToolException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** All benchmarks, by name. */
public final class Benches {
  private static final String PLUGIN =
      "plain tables on nodes with the plugin against stock Cassandra, ";

  private static final List<Benchmark> ALL =
      Stream.of(
              List.of(
                  Benchmark.of("plugin-1n", PLUGIN + "one node each", PluginBenchmark.onNodes(1)),
                  Benchmark.of("plugin-3n", PLUGIN + "3 nodes each", PluginBenchmark.onNodes(3)),
                  Benchmark.of(
                      "versions",
                      "the cost of keeping a table's past, and of transactions of one statement",
                      VersionsBenchmark::ofIndex,
                      VersionsBenchmark::ofStatements),
                  Benchmark.of(
                          "oracle",
                          "what the status oracle can do: the three that follow, one after the other",
                          OracleCore::run,
                          OracleWire::run,
                          OracleCurves::run)
                      .drawnBy(CurveFigures::of),
                  Benchmark.of(
                      "oracle-core",
                      "its decisions per second, at both isolation levels",
                      OracleCore::run),
                  Benchmark.of(
                      "oracle-wire",
                      "three members as processes: commits and begins per second, beside Omid's oracle",
                      OracleWire::run),
                  Benchmark.of(
                          "oracle-curves",
                          "figures 5 to 10 of \"A Critique of Snapshot Isolation\", without the data servers",
                          OracleCurves::run)
                      .drawnBy(CurveFigures::of),
                  Benchmark.of(
                      "scaling",
                      "what the oracle's members pay, and simulated clusters that pay it",
                      ScalingBenchmark::run)),
              Benchmark.onNodes(
                  "transactions",
                  "transactions against plain statements and LWT",
                  TransactionsBenchmark::onNodes,
                  1,
                  3),
              Benchmark.onNodes(
                  "conditions",
                  "IF on transactional tables against lightweight transactions",
                  ConditionsBenchmark::onNodes,
                  1,
                  3),
              Benchmark.onNodes(
                  "blocks",
                  "whole transactions in one request against several requests and Accord",
                  BlocksBenchmark::onNodes,
                  1,
                  3),
              Benchmark.onNodes(
                  "hot-row",
                  "one row that all clients change: with FOR UPDATE, and again after conflicts",
                  HotRowBenchmark::onNodes,
                  1,
                  3),
              Benchmark.onNodes(
                  "indexes",
                  "reads by an index of transactional tables against plain ones",
                  IndexesBenchmark::onNodes,
                  1,
                  3),
              Benchmark.onNodes(
                  "unique",
                  "a unique index against a table of values that lightweight transactions take",
                  UniqueBenchmark::onNodes,
                  1,
                  3),
              Benchmark.onNodes(
                  "builds",
                  "transactions and strong writes on this build beside others (--against)",
                  BuildsBenchmark::onNodes,
                  1,
                  3),
              List.of(
                  Benchmark.of(
                          "round-trips",
                          "how many round trips between nodes a commit takes more than a plain write",
                          RoundTripsBenchmark::run)
                      .inOwnNetwork(),
                  Benchmark.of(
                      "large-commits",
                      "small updates on three nodes while large transactions are committed",
                      LargeCommitsBenchmark::run),
                  Benchmark.of(
                      "memory",
                      "whether nodes with small heaps survive large commits, slow readers and dead followers",
                      MemoryBenchmark::run),
                  Benchmark.of(
                      "ycsb",
                      "YCSB's workloads A to F and pH1's mix, transactional against plain",
                      YcsbBenchmark::run),
                  Benchmark.of(
                      "tpcc",
                      "TPC-C's mix without isolation, at SNAPSHOT and SERIALIZABLE, and what it leaves",
                      TpccBenchmark::run)),
              drawn(
                  Benchmark.onNodes(
                      "replication",
                      "strong keyspaces against QUORUM, LWT and SERIAL",
                      ReplicationBenchmark::onNodes,
                      3,
                      5),
                  ReplicationBenchmark::figures),
              List.of(
                  Benchmark.of(
                          "routing",
                          "a strong keyspace of six groups: clients that know the leaders against any node",
                          RoutingBenchmark::run)
                      .drawnBy(RoutingBenchmark::figures),
                  Benchmark.of(
                          "notifications",
                          "how soon many watchers hear of a change, on one node and three, beside ZooKeeper",
                          NotificationsBenchmark::run)
                      .drawnBy(NotificationFigures::of),
                  Benchmark.of(
                      "hand-over",
                      "watchers of rows that change all the time, while nodes die amid their moves",
                      HandOverBenchmark::run),
                  Benchmark.of(
                      "watched-writes",
                      "what watches cost those who write to a strong keyspace, on three nodes",
                      WatchedWritesBenchmark::run)),
              drawn(
                  Benchmark.onNodes(
                      "mail",
                      "mail through SMTP: strong and transactional mailboxes against QUORUM and LWT",
                      MailBenchmark::onNodes,
                      3,
                      5),
                  MailFigures::of),
              List.of(
                  Benchmark.of(
                      "mail-uids",
                      "deliveries to mailboxes without contents, by the four stores of mail on three nodes",
                      UidBenchmark::run)),
              drawn(
                  Benchmark.onNodes(
                      "leadership",
                      "writes to a strong keyspace whose leader steps aside before compactions, or not",
                      LeadershipBenchmark::onNodes,
                      3,
                      5),
                  LeadershipBenchmark::figures),
              List.of(
                  Benchmark.of(
                      "collection",
                      "what it costs that nodes time their messages, to predict staleness",
                      CollectionBenchmark::run),
                  Benchmark.of(
                          "snapshots",
                          "what snapshots cost live reads and writers, how fast they are read and taken",
                          SnapshotsBenchmark::run)
                      .drawnBy(SnapshotFigures::of),
                  Benchmark.of(
                          "failover",
                          "how long requests wait for another leader: the two that follow, one after the"
                              + " other",
                          OracleFailover::run,
                          StrongFailover::run)
                      .inOwnNetwork()
                      .drawnBy(StrongFailover::figures),
                  Benchmark.of(
                      "failover-oracle",
                      "how long nobody can commit when the oracle's leader dies, hangs or hands over",
                      OracleFailover::run),
                  Benchmark.of(
                          "failover-strong",
                          "how long nobody can write to a strong keyspace when its leader dies, hangs, is cut"
                              + " off or hands over",
                          StrongFailover::run)
                      .inOwnNetwork()
                      .drawnBy(StrongFailover::figures)))
          .flatMap(List::stream)
          .toList();

  private Benches() {}

  private static List<Benchmark> drawn(
      List<Benchmark> benchmarks, Function<Report, List<? extends Picture>> figures) {
    return benchmarks.stream().map(each -> each.drawnBy(figures)).toList();
  }

  /** Returns the names, in the order in which they are listed. */
  public static List<String> names() {
    return ALL.stream().map(Benchmark::name).toList();
  }

  /**
   * Returns a benchmark.
   *
   * @throws IllegalArgumentException if there is none of this name
   */
  public static Benchmark named(String name) {
    return ALL.stream()
        .filter(benchmark -> benchmark.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "There is no benchmark \"%s\"; there are: %s."
                        .formatted(name, String.join(", ", names()))));
  }

  /**
   * Runs a benchmark on nodes of its own, which are gone afterwards.
   *
   * @param json where to write the report, or null
   * @param figures the folder for its pictures, or null
   * @param out is told the progress, then the results as a table
   * @throws IllegalArgumentException if there is none of this name
   * @throws ToolException if it could not be measured
   */
  public static Report run(
      String name, Path json, Path figures, BenchOptions options, PrintWriter out) {
    Benchmark benchmark = named(name);
    if (json != null) {
      write(json, "{}\n"); // A place that can't be written to is found out now, not at the end.
    }
    List<Report> runs = new ArrayList<>();
    for (int run = 1; run <= options.runs(); run++) {
      if (options.runs() > 1) {
        out.printf("Run %d of %d%n", run, options.runs());
      }
      runs.add(benchmark.run(new Run(name, options, out)));
    }
    Report report = Report.ofRuns(runs);
    out.println();
    out.print(report.toTable());
    if (json != null) {
      write(json, report.toJson());
      out.printf("%nWritten to %s.%n", json);
    }
    if (figures != null) {
      benchmark.figures().apply(report).forEach(figure -> figure.write(figures));
    }
    out.flush();
    return report;
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new ToolException("The report can't be written to %s: %s.".formatted(file, e), e);
    }
  }
}
