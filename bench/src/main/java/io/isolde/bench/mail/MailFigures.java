// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import io.isolde.bench.charts.Bars;
import io.isolde.bench.kit.Ratio;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Sample;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What is compared, by which names, and figures 6.11 and 6.12 of the thesis beside it. */
public final class MailFigures {
  static final String FIVE = "_5n";

  /**
   * Throughput of the thesis, as a multiple of that of QUORUM, which its text has: of groups that
   * change leaders before compactions, of others, and of lightweight transactions.
   */
  private record OfThesis(double changing, double steady, double serial) {
    /** From percentages: how much more changing groups had than each of the others. */
    static OfThesis of(double moreThanSteady, double moreThanQuorum, double moreThanSerial) {
      double changing = 1 + moreThanQuorum / 100;
      return new OfThesis(
          changing, changing / (1 + moreThanSteady / 100), changing / (1 + moreThanSerial / 100));
    }
  }

  private static final Map<String, OfThesis> THESIS =
      Map.of(
          "small",
          OfThesis.of(30, 24, 160),
          "large",
          OfThesis.of(31, 25, 140),
          "small" + FIVE,
          OfThesis.of(32, 26, 164),
          "large" + FIVE,
          OfThesis.of(42, 36, 132));

  private MailFigures() {}

  /** The name of a case: mail of a range of sizes. */
  static String mail(MailKind kind, LetterSizes sizes) {
    return kind.text() + "_" + sizes.name();
  }

  /** The name of a case: deliveries without contents to many mailboxes. */
  static String commits(MailKind kind) {
    return kind.text() + "_uid_commits";
  }

  /** The name of a case: deliveries without contents to one mailbox. */
  static String commitsToOne(MailKind kind) {
    return kind.text() + "_uid_commits_one_mailbox";
  }

  /**
   * Isolde's kinds against the others. The names of those of small messages do not say so.
   *
   * @param suffix of the names
   */
  static List<Ratio> ratios(MailBenchmark.Plan plan, String suffix) {
    List<Ratio> ratios = new ArrayList<>();
    for (LetterSizes each : plan.sizes()) {
      String size = each.equals(plan.sizes().get(0)) ? "" : "_" + each.name();
      for (MailKind ours : plan.kinds().stream().filter(MailKind::isIsolde).toList()) {
        for (MailKind peer : plan.kinds().stream().filter(kind -> !kind.isIsolde()).toList()) {
          ratios.add(
              new Ratio(
                  ours.text() + size + "_vs_" + peer.text() + suffix,
                  mail(ours, each),
                  mail(peer, each)));
        }
      }
    }
    return ratios;
  }

  /** The better one of Isolde's kinds. */
  static Map<String, Double> commits(List<MailKind> kinds, Map<String, List<Sample>> samples) {
    double many = 0;
    double one = 0;
    for (MailKind kind : kinds) {
      if (kind.isIsolde()) {
        many = Math.max(many, Sample.perSecond(samples.get(commits(kind))));
        one = Math.max(one, Sample.perSecond(samples.get(commitsToOne(kind))));
      }
    }
    return Map.of("uid_commits_per_s", many, "uid_commits_one_mailbox_per_s", one);
  }

  /** Draws throughput against QUORUM, here and in the thesis. */
  public static List<Bars> of(Report report) {
    List<Bars> figures = new ArrayList<>();
    for (LetterSizes sizes : List.of(LetterSizes.SMALL, LetterSizes.LARGE)) {
      for (String suffix : List.of("", FIVE)) {
        if (report.cases().contains(mail(MailKind.QUORUM, sizes) + suffix)) {
          figures.add(figure(sizes, suffix, report));
        }
      }
    }
    return figures;
  }

  private static Bars figure(LetterSizes sizes, String suffix, Report report) {
    Map<String, Double> here = new LinkedHashMap<>();
    double quorum = perSecond(MailKind.QUORUM, sizes, suffix, report);
    for (MailKind kind : MailKind.values()) {
      here.put(kind.text(), perSecond(kind, sizes, suffix, report) / quorum);
    }
    OfThesis thesis = THESIS.get(sizes.name() + suffix);
    Map<String, Double> there = new LinkedHashMap<>();
    there.put(MailKind.STRONG.text(), thesis.changing());
    there.put(MailKind.QUORUM.text(), 1.0);
    there.put(MailKind.SERIAL.text(), thesis.serial());
    Map<String, Map<String, Double>> series = new LinkedHashMap<>();
    series.put("here", here);
    series.put("thesis, leaders step aside", there);
    series.put("thesis, leaders stay", Map.of(MailKind.STRONG.text(), thesis.steady()));
    int nodes = suffix.equals(FIVE) ? 5 : 3;
    return new Bars(
        "mail-%s-%d".formatted(sizes.name(), nodes),
        "mail, messages of %d to %d KB, %d nodes"
            .formatted(sizes.minBytes() / 1024, sizes.maxBytes() / 1024, nodes),
        "throughput, QUORUM = 1",
        series);
  }

  private static double perSecond(MailKind kind, LetterSizes sizes, String suffix, Report report) {
    return report.median(mail(kind, sizes) + suffix, Report.Result::operationsPerSecond);
  }
}
