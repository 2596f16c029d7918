// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import io.isolde.bench.Report.Result;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;

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
    Map<String, List<Result>> byCase = new LinkedHashMap<>();
    for (Result result : report.results()) {
      byCase.computeIfAbsent(result.name(), name -> new ArrayList<>()).add(result);
    }
    byCase.forEach(
        (name, rounds) ->
            line(
                "%-32s %10.0f %9.2f %9.2f %9.2f %7d"
                    .formatted(
                        name,
                        median(rounds, Result::operationsPerSecond),
                        median(rounds, Result::meanMillis),
                        median(rounds, Result::p50Millis),
                        median(rounds, Result::p99Millis),
                        rounds.stream().mapToLong(Result::errors).sum())));
  }

  private static double median(List<Result> rounds, ToDoubleFunction<Result> column) {
    return Spread.of(rounds.stream().map(column::applyAsDouble).toList()).median();
  }

  private void addRatios(Report report) {
    line("");
    line("%-32s %10s %9s %9s".formatted("ratios of throughput", "median", "min", "max"));
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
