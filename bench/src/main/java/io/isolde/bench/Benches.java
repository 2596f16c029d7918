// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import io.isolde.cluster.ToolException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** All benchmarks, by name. */
public final class Benches {

  private static final List<Benchmark> ALL =
      Stream.of(
              PluginBenchmark.all(),
              List.of(new VersionsBenchmark()),
              OracleBenchmark.all(),
              TransactionsBenchmark.all(),
              List.of(
                  new RoundTripsBenchmark(), new LargeCommitsBenchmark(), new MemoryBenchmark()),
              List.of(new YcsbBenchmark(), new TpccBenchmark()),
              ReplicationBenchmark.all(),
              LeadershipBenchmark.all(),
              List.of(new CollectionBenchmark(), new SnapshotsBenchmark()),
              FailoverBenchmark.all())
          .<Benchmark>flatMap(List::stream)
          .toList();

  private Benches() {}

  /** Returns the names, in the order in which they are listed. */
  public static List<String> names() {
    return ALL.stream().map(Benchmark::name).toList();
  }

  /**
   * Returns what a benchmark measures, in one sentence.
   *
   * @throws IllegalArgumentException if there is none of this name
   */
  public static String summary(String name) {
    return find(name).summary();
  }

  /**
   * Returns whether a benchmark measures more in a network of its own: {@link
   * io.isolde.cluster.Network#INSIDE}.
   *
   * @throws IllegalArgumentException if there is none of this name
   */
  public static boolean wantsOwnNetwork(String name) {
    return find(name).wantsOwnNetwork();
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
    Benchmark benchmark = find(name);
    if (json != null) {
      write(json, "{}\n"); // A place that can't be written to is found out now, not at the end.
    }
    List<Report> runs = new ArrayList<>();
    for (int run = 1; run <= options.runs(); run++) {
      if (options.runs() > 1) {
        out.printf("Run %d of %d%n", run, options.runs());
      }
      runs.add(benchmark.run(options, out));
    }
    Report report = Report.ofRuns(runs);
    out.println();
    out.print(ReportTable.of(report));
    if (json != null) {
      write(json, report.toJson());
      out.printf("%nWritten to %s.%n", json);
    }
    if (figures != null) {
      benchmark.figures(report).forEach(figure -> figure.write(figures));
    }
    out.flush();
    return report;
  }

  private static Benchmark find(String name) {
    return ALL.stream()
        .filter(benchmark -> benchmark.name().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "There is no benchmark \"%s\"; there are: %s."
                        .formatted(name, String.join(", ", names()))));
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new ToolException("The report can't be written to %s: %s.".formatted(file, e), e);
    }
  }
}
