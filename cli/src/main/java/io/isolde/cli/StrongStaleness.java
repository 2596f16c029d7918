// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.staleness.Estimate;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.ParseResult;

/** What {@code isolde staleness} says of a strong keyspace: what its leaders have measured. */
final class StrongStaleness {
  private static final String PROBABILITIES = "%-6s %-9s %-25s %-25s %-25s %s";
  private static final String TIMES = "%-6s %-27s %-27s %-10s %s";

  /** Options that say what is to be predicted, where nothing is. */
  private static final List<String> OF_PREDICTIONS =
      List.of(
          "--t",
          "--p",
          "--advise",
          "--fresh",
          "--read-p99",
          "--write-p99",
          "--reads",
          "--datacenter",
          "--coordinator",
          "--trials");

  private StrongStaleness() {}

  static boolean isStrong(CqlSession session, String keyspace) {
    return session
        .getMetadata()
        .getKeyspace(keyspace)
        .map(found -> found.getReplication().getOrDefault("class", ""))
        .filter(strategy -> strategy.endsWith("ReplicatedLogStrategy"))
        .isPresent();
  }

  /** Why the command line can't be obeyed for a strong keyspace; empty if it can. */
  static Optional<String> refusal(String keyspace, ParseResult commandLine) {
    List<String> given = OF_PREDICTIONS.stream().filter(commandLine::hasMatchedOption).toList();
    return given.isEmpty()
        ? Optional.empty()
        : Optional.of(
            ("%s is a strong keyspace: nothing is predicted for it, its leaders measure reads at ONE"
                    + " at fixed times after a write, and all other levels are never stale. Leave out %s.")
                .formatted(keyspace, String.join(", ", given)));
  }

  /** A line for each group and time after a write, and then one for each group. */
  static List<String> lines(String keyspace, List<Row> measured) {
    List<String> lines = new ArrayList<>();
    if (measured.isEmpty()) {
      lines.add(
          ("No leader of %s has asked its followers yet. It needs some writes, and"
                  + " staleness_sample_one_in must not be 0.")
              .formatted(keyspace));
      return lines;
    }
    List<Row> rows =
        measured.stream()
            .sorted(
                Comparator.comparingInt(StrongStaleness::group)
                    .thenComparingDouble(row -> row.getDouble("after_ms")))
            .toList();
    lines.add(
        "Reads at ONE and LOCAL_ONE of any replica; at all other levels they are never stale.");
    lines.add("Probabilities, %, at a time after a write or a read");
    lines.add(
        format(PROBABILITIES, "group", "after ms", "fresh", "within 2", "within 3", "monotonic"));
    rows.forEach(row -> lines.add(probabilities(row)));
    lines.add("");
    lines.add("Times, ms");
    lines.add(
        format(TIMES, "group", "99% fresh after", "99.9% fresh after", "followers", "samples"));
    rows.stream()
        .filter(row -> row.getDouble("after_ms") == 0)
        .forEach(row -> lines.add(times(row)));
    return lines;
  }

  private static int group(Row row) {
    return row.getInt("group_number");
  }

  private static String probabilities(Row row) {
    return format(
        PROBABILITIES,
        group(row),
        format("%.4g", row.getDouble("after_ms")),
        EstimateText.percent(estimate(row, "fresh")),
        EstimateText.percent(estimate(row, "within_2_versions")),
        EstimateText.percent(estimate(row, "within_3_versions")),
        EstimateText.percent(estimate(row, "monotonic")));
  }

  private static String times(Row row) {
    return format(
        TIMES,
        group(row),
        EstimateText.millis(estimate(row, "fresh_99_after_ms")),
        EstimateText.millis(estimate(row, "fresh_999_after_ms")),
        row.getInt("followers"),
        row.getLong("samples"));
  }

  private static Estimate estimate(Row row, String column) {
    return new Estimate(
        row.getDouble(column), row.getDouble(column + "_low"), row.getDouble(column + "_high"));
  }

  private static String format(String pattern, Object... arguments) {
    return String.format(Locale.ROOT, pattern, arguments);
  }
}
