// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** What a torture has shown, as a text in Markdown. */
public record TortureReport(TortureOptions options, Duration took, List<EpochResult> epochs) {
  public TortureReport {
    epochs = List.copyOf(epochs);
  }

  /** Whether nothing happened that must not. */
  public boolean isFine() {
    return epochs.stream().allMatch(epoch -> epoch.violations().isEmpty());
  }

  static String line(EpochResult epoch) {
    return "epoch %d, %s, %s: %s; %d committed, %d aborted, %d unknown, at most %.1f s without a commit: %s"
        .formatted(
            epoch.number(),
            epoch.workload(),
            epoch.level(),
            String.join(", ", epoch.faults()),
            epoch.committed(),
            epoch.aborted(),
            epoch.unknown(),
            epoch.longestGapMillis() / 1e3,
            epoch.violations().isEmpty() ? "fine" : "VIOLATED");
  }

  /** The whole of it. */
  public String toMarkdown() {
    StringBuilder text = new StringBuilder();
    text.append("# Torture of a cluster of %d nodes\n\n".formatted(options.nodes()));
    text.append(
        "`./isolde torture %s`: %d epochs in %d minutes. %s\n\n"
            .formatted(
                String.join(" ", options.toArguments()),
                epochs.size(),
                took.toMinutes(),
                isFine() ? "No anomaly." : "**There are anomalies.**"));
    text.append(
        "%d transactions committed, %d aborted, of %d no client knows. Errors that clients got: %s.\n\n"
            .formatted(
                epochs.stream().mapToLong(EpochResult::committed).sum(),
                epochs.stream().mapToLong(EpochResult::aborted).sum(),
                epochs.stream().mapToLong(EpochResult::unknown).sum(),
                errors()));
    text.append("| epoch | workload | level | what happened | committed | aborted | unknown |");
    text.append(" longest time without a commit | verdict |\n");
    text.append("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    epochs.forEach(epoch -> text.append(row(epoch)));
    for (EpochResult epoch : epochs) {
      for (String violation : epoch.violations()) {
        text.append("\nEpoch %d:\n\n```\n%s\n```\n".formatted(epoch.number(), violation));
      }
    }
    return text.toString();
  }

  private String errors() {
    Map<String, Integer> all = new TreeMap<>();
    for (EpochResult epoch : epochs) {
      epoch.errors().forEach((name, count) -> all.merge(name, count, Integer::sum));
    }
    return all.entrySet().stream()
        .map(each -> each.getKey() + " " + each.getValue())
        .collect(Collectors.joining(", "));
  }

  private static String row(EpochResult epoch) {
    return "| %d | %s | %s | %s | %d | %d | %d | %.1f s | %s |\n"
        .formatted(
            epoch.number(),
            epoch.workload(),
            epoch.level(),
            String.join("; ", epoch.faults()),
            epoch.committed(),
            epoch.aborted(),
            epoch.unknown(),
            epoch.longestGapMillis() / 1e3,
            epoch.violations().isEmpty() ? "fine" : "**violated**");
  }
}
