// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.io.PrintWriter;
import java.util.List;

/** For how long requests wait when a leader is gone: of the oracle, of a strong keyspace. */
record FailoverBenchmark(String name, String summary, List<Part> parts) implements Benchmark {

  /** A part of the benchmark. */
  interface Part {
    Report run(String bench, BenchOptions options, PrintWriter out);
  }

  /** The whole of it, and its parts. */
  static List<Benchmark> all() {
    return List.of(
        new FailoverBenchmark(
            "failover",
            "how long requests wait for another leader: the two that follow, one after the other",
            List.of(OracleFailover::run, StrongFailover::run)),
        new FailoverBenchmark(
            "failover-oracle",
            "how long nobody can commit when the oracle's leader dies, hangs or hands over",
            List.of(OracleFailover::run)),
        new FailoverBenchmark(
            "failover-strong",
            "how long nobody can write to a strong keyspace when its leader dies, hangs, is cut off"
                + " or hands over",
            List.of(StrongFailover::run)));
  }

  @Override
  public boolean wantsOwnNetwork() {
    return parts.size() > 1 || name.endsWith("strong");
  }

  @Override
  public List<Bars> figures(Report report) {
    return parts.size() > 1 || name.endsWith("strong")
        ? List.of(StrongFailover.figure(report))
        : List.of();
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    return parts.stream()
        .map(part -> part.run(name, options, out))
        .reduce(Report::and)
        .orElseThrow();
  }
}
