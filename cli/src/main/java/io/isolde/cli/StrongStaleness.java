// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** What {@code isolde staleness} says of a strong keyspace: what its leaders have measured. */
final class StrongStaleness {
  private static final double PERCENT = 100;

  private StrongStaleness() {}

  static boolean isStrong(CqlSession session, String keyspace) {
    return session
        .getMetadata()
        .getKeyspace(keyspace)
        .map(found -> found.getReplication().getOrDefault("class", ""))
        .filter(strategy -> strategy.endsWith("ReplicatedLogStrategy"))
        .isPresent();
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
