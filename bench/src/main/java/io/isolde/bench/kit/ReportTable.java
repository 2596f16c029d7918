// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import io.isolde.bench.kit.Report.Result;

/** A report for people: medians over the rounds, in columns. */
final class ReportTable {
  private final StringBuilder text = new StringBuilder();

  private ReportTable() {}

  static String of(Report report) {
    ReportTable table = new ReportTable();
    MachineDescription machine = report.machine();
    table.line(
        "%s: %d rounds, %d cores, %d MB, %s, Cassandra %s"
            .formatted(
                report.bench(),
                report.rounds(),
                machine.cores(),
                machine.memoryMegabytes(),
                machine.jvm(),
                machine.cassandra()));
    table.addCases(report);
    table.addRatios(report);
    table.addMetrics(report);
    return table.text.toString();
  }

  private void addCases(Report report) {
    line("");
    line(
        "%-32s %10s %9s %9s %9s %7s"
            .formatted("medians", "ops/s", "mean ms", "p50 ms", "p99 ms", "errors"));
    for (String name : report.cases()) {
      line(
          "%-32s %10.0f %9.2f %9.2f %9.2f %7d"
              .formatted(
                  name,
                  report.median(name, Result::operationsPerSecond),
                  report.median(name, Result::meanMillis),
                  report.median(name, Result::p50Millis),
                  report.median(name, Result::p99Millis),
                  errors(report, name)));
    }
  }

  private static long errors(Report report, String name) {
    return report.results().stream()
        .filter(result -> result.name().equals(name))
        .mapToLong(Result::errors)
        .sum();
  }

  private void addRatios(Report report) {
    line("");
    line("%-32s %10s %9s %9s".formatted("ratios", "median", "min", "max"));
    report
        .ratios()
        .forEach(
            (key, spread) ->
                line(
                    "%-32s %10.2f %9.2f %9.2f"
                        .formatted(key, spread.median(), spread.min(), spread.max())));
  }

  private void addMetrics(Report report) {
    if (!report.metrics().isEmpty()) {
      line("");
      line("metrics");
      report.metrics().forEach((name, value) -> line("%-43s %9.1f".formatted(name, value)));
    }
  }

  private void line(String line) {
    text.append(line.stripTrailing()).append(System.lineSeparator());
  }
}
