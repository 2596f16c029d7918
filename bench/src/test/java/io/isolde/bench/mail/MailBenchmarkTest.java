// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.NodeShare;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.StockAndIsolde;
import io.isolde.bench.nodes.TemporaryNode;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** All of it, as small as it can be: one node, two kinds of mailboxes, and a second for each. */
class MailBenchmarkTest {
  private static final BenchOptions OPTIONS =
      new BenchOptions(1, 1, 0, 4, 1, 8, 1, 512, 0, NodeShare.ALL, 1, List.of(), 1, false);

  private static final MailBenchmark.Plan PLAN =
      new MailBenchmark.Plan(
          List.of(MailKind.STRONG, MailKind.QUORUM),
          3,
          List.of(new LetterSizes("small", 2_000, 400_000)));

  @Test
  void whenMailIsSentThenAllThatWasAnsweredIsThereOnce() {
    StringWriter out = new StringWriter();
    Run run = new Run("mail", OPTIONS, new PrintWriter(out));
    Report report;
    try (TemporaryNode node =
        TemporaryNode.start("mail-smoke", TemporaryNode.spec(OPTIONS), run.out())) {
      report = MailBenchmark.on(new StockAndIsolde(node, node), PLAN, "_1n", run);
    }

    assertThat(report.cases())
        .as("%s", out)
        .containsExactlyInAnyOrder(
            "strong_small",
            "quorum_small",
            "strong_uid_commits",
            "quorum_uid_commits",
            "strong_uid_commits_one_mailbox",
            "quorum_uid_commits_one_mailbox");
    // A busy machine may be too late for some; what was answered has to be there all the same.
    assertThat(report.results()).allMatch(result -> result.operationsPerSecond() > 0);
    assertThat(report.ratios()).containsOnlyKeys("strong_vs_quorum_1n");
    Map<String, Double> metrics = report.metrics();
    assertThat(metrics.get("answered")).isPositive();
    assertThat(metrics.get("quorum_answered")).isPositive();
    assertThat(metrics.get("uid_commits_per_s")).isPositive();
    assertThat(metrics.get("uid_commits_one_mailbox_per_s")).isPositive();
    assertThat(metrics.get("cpu_us_strong_small")).isPositive();
    assertThat(metrics)
        .containsEntry("lost", 0.0)
        .containsEntry("doubled", 0.0)
        .containsEntry("invented", 0.0)
        .containsEntry("damaged", 0.0)
        .containsEntry("miscounted", 0.0)
        .containsEntry("quorum_lost", 0.0)
        .containsEntry("quorum_miscounted", 0.0);
  }
}
