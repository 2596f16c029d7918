// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.io.PrintWriter;
import java.util.List;

/** What the status oracle can do: one of its parts, or one part after the other. */
record OracleBenchmark(String name, String summary, List<Part> parts) implements Benchmark {

  /** A part of the benchmark. */
  interface Part {
    Report run(String bench, BenchOptions options, PrintWriter out);
  }

  private static final Part CORE =
      (bench, options, out) -> new OracleCore(bench, options, out).run();
  private static final Part WIRE =
      (bench, options, out) -> new OracleWire(bench, options, out).run();
  private static final Part CURVES =
      (bench, options, out) -> new OracleCurves(bench, options, out).run();

  /** The whole of it, and its parts. */
  static List<Benchmark> all() {
    return List.of(
        new OracleBenchmark(
            "oracle",
            "what the status oracle can do: the three that follow, one after the other",
            List.of(CORE, WIRE, CURVES)),
        new OracleBenchmark(
            "oracle-core", "its decisions per second, at both isolation levels", List.of(CORE)),
        new OracleBenchmark(
            "oracle-wire",
            "three members as processes: commits and begins per second, beside Omid's oracle",
            List.of(WIRE)),
        new OracleBenchmark(
            "oracle-curves",
            "figures 5 to 10 of \"A Critique of Snapshot Isolation\", without the data servers",
            List.of(CURVES)));
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    return parts.stream()
        .map(part -> part.run(name, options, out))
        .reduce(Report::and)
        .orElseThrow();
  }

  @Override
  public List<Figure> figures(Report report) {
    return CurveFigures.of(report);
  }
}
