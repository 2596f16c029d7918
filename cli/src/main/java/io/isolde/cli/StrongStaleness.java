// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.ParseResult;

/** What {@code isolde staleness} says of a strong keyspace: what its leaders have measured. */
final class StrongStaleness {
  private static final double PERCENT = 100;

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

  /** One line for each group and time after a write, under a heading. */
  static List<String> lines(String keyspace, List<Row> measured) {
    List<String> lines = new ArrayList<>();
    if (measured.isEmpty()) {
      lines.add(
          ("No leader of %s has asked its followers yet. It needs some writes, and"
                  + " staleness_sample_one_in must not be 0.")
              .formatted(keyspace));
      return lines;
    }
    lines.add(
        "Reads at ONE and LOCAL_ONE of any replica; at all other levels they are never stale.");
    lines.add(
        format(
            "%-6s %-9s %-27s %-18s %s",
            "group", "after ms", "fresh, %", "99% fresh, ms", "99.9% fresh, ms"));
    measured.stream()
        .sorted(
            Comparator.comparingInt((Row row) -> row.getInt("group_number"))
                .thenComparingDouble(row -> row.getDouble("after_ms")))
        .forEach(row -> lines.add(line(row)));
    return lines;
  }

  private static String line(Row row) {
    return format(
        "%-6d %-9.4g %-27s %-18.2f %.2f",
        row.getInt("group_number"),
        row.getDouble("after_ms"),
        format(
            "%.3f [%.3f, %.3f]",
            PERCENT * row.getDouble("fresh"),
            PERCENT * row.getDouble("fresh_low"),
            PERCENT * row.getDouble("fresh_high")),
        row.getDouble("fresh_99_after_ms"),
        row.getDouble("fresh_999_after_ms"));
  }

  private static String format(String pattern, Object... arguments) {
    return String.format(Locale.ROOT, pattern, arguments);
  }
}
