// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import io.isolde.bench.kit.Benchmark;
import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Processes;
import io.isolde.bench.kit.Ratio;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Rounds;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Sample;
import io.isolde.bench.mail.SentMail.Verdict;
import io.isolde.bench.nodes.StockAndIsolde;
import io.isolde.bench.nodes.TemporaryNode;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Mail for a thousand users, as in section 6.8 of the thesis on replicated LSM trees: 32 senders,
 * messages of two ranges of sizes, and four kinds of mailboxes that alternate. Each kind has a mail
 * server of its own. Those that need no plugin are on stock Cassandra, on nodes beside Isolde's.
 *
 * <p>Then the mailboxes alone ({@link UidCases}). At the end all inboxes are compared with what was
 * sent.
 */
public final class MailBenchmark implements AutoCloseable {
  /** As many as the thesis had. */
  private static final int SENDERS = 32;

  private static final int USERS = 1_000;

  /**
   * What is measured.
   *
   * @param kinds of mailboxes
   * @param users how many there are
   * @param sizes of messages; the first ones are those that warm up
   */
  record Plan(List<MailKind> kinds, int users, List<LetterSizes> sizes) {}

  private static final Plan PLAN =
      new Plan(List.of(MailKind.values()), USERS, List.of(LetterSizes.SMALL, LetterSizes.LARGE));

  private final Run run;
  private final StockAndIsolde clusters;
  private final Plan plan;
  private final ExecutorService threads;
  private final Processes everything;

  private final Map<MailKind, MailSite> sites = new EnumMap<>(MailKind.class);
  private final Map<MailKind, List<Mailing>> mailings = new EnumMap<>(MailKind.class);
  private final UidCases uids;

  private MailBenchmark(Run run, StockAndIsolde clusters, Plan plan) {
    this.run = run;
    this.clusters = clusters;
    this.plan = plan;
    this.threads = Executors.newFixedThreadPool(Math.max(SENDERS, run.options().inFlight()));
    this.everything = Processes.ofNodes(clusters.tools());
    this.uids = new UidCases(run, clusters, plan.kinds(), threads);
  }

  /** The benchmark on so many nodes of each cluster: three or five. */
  public static Benchmark.Part onNodes(int nodes) {
    return run -> {
      try (StockAndIsolde clusters = MailKind.start(nodes, run)) {
        return on(clusters, PLAN, nodes == 3 ? "_3n" : "", run)
            .withSuffix(nodes == 3 ? "" : MailFigures.FIVE);
      }
    };
  }

  /**
   * The benchmark on clusters that are there.
   *
   * @param ofRatios the end of the ratios' names
   */
  static Report on(StockAndIsolde clusters, Plan plan, String ofRatios, Run run) {
    try (MailBenchmark benchmark = new MailBenchmark(run, clusters, plan)) {
      return benchmark.measure(MailFigures.ratios(plan, ofRatios));
    }
  }

  private Report measure(List<Ratio> ratios) {
    plan.kinds().forEach(this::openSite);
    uids.create(MailBenchmark::keyspace, plan.users());
    List<Case> mail = new ArrayList<>();
    plan.sizes().forEach(each -> addMail(mail, each));
    Passes passes = new Passes(run, everything);
    passes.warmUp(mail.subList(0, plan.kinds().size()), run.options().warmupSeconds());
    Map<String, List<Sample>> ofMail = measured(mail);
    Report ofUids = uids.measure(run.options().warmupSeconds() / MailKind.values().length);

    Map<String, Double> metrics = megabytes(ofMail);
    metrics.putAll(verdicts());
    return run.reportWithCpu(ofMail, ratios).and(ofUids).with(metrics);
  }

  private void openSite(MailKind kind) {
    TemporaryNode cluster = kind.in(clusters);
    kind.createKeyspace(keyspace(kind), cluster);
    sites.put(
        kind, MailSite.open(cluster, keyspace(kind), kind.consistency(), plan.users(), threads));
    run.say("  %s: a mail server, and %d users with inboxes".formatted(kind.text(), plan.users()));
  }

  private static String keyspace(MailKind kind) {
    return "mail_" + kind.text();
  }

  private void addMail(List<Case> cases, LetterSizes sizes) {
    for (MailKind kind : plan.kinds()) {
      MailSite site = sites.get(kind);
      String name = MailFigures.mail(kind, sizes);
      SmtpSender sender = new SmtpSender(site.server().smtp());
      Mailing mailing = new Mailing(name, sizes, site.users(), sender, threads);
      mailings.computeIfAbsent(kind, any -> new ArrayList<>()).add(mailing);
      Processes server = site.server().processes();
      cases.add(
          new Case(name, mailing.at(SENDERS))
              .after(this::awaitQuiet)
              .on(together(kind.processes(clusters), server)));
    }
  }

  private static Processes together(Processes nodes, Processes server) {
    return new Processes(
        () -> nodes.processorNanos().getAsLong() + server.processorNanos().getAsLong(),
        () -> nodes.compilerMillis().getAsLong() + server.compilerMillis().getAsLong(),
        nodes.pids());
  }

  private void awaitQuiet() {
    QuietNodes.await(clusters.tools());
  }

  private Map<String, List<Sample>> measured(List<Case> cases) {
    return new Rounds(run, everything).measure(round -> Rounds.inOrderOf(round, cases));
  }

  private Map<String, Double> megabytes(Map<String, List<Sample>> ofMail) {
    Map<String, Double> perSecond = new LinkedHashMap<>();
    mailings.values().stream()
        .flatMap(List::stream)
        .forEach(
            each ->
                perSecond.put(
                    each.name() + "_mb_per_s",
                    Sample.perSecond(ofMail.get(each.name())) * each.sent().meanBytes() / 1e6));
    return perSecond;
  }

  /** Those of Isolde's kinds are one number; the others have names before theirs. */
  private Map<String, Double> verdicts() {
    Map<String, Double> numbers = new LinkedHashMap<>();
    Verdict isolde = Verdict.NOTHING;
    long miscounted = 0;
    for (MailKind kind : plan.kinds()) {
      Verdict found = verdict(kind);
      long wrong = uids.miscounted(kind);
      run.say("  %s: %s, miscounted %d".formatted(kind.text(), found, wrong));
      if (kind.isIsolde()) {
        isolde = isolde.and(found);
        miscounted += wrong;
      } else {
        put(numbers, kind.text() + "_", found, wrong);
      }
    }
    put(numbers, "", isolde, miscounted);
    return numbers;
  }

  private Verdict verdict(MailKind kind) {
    SentMail all = new SentMail();
    mailings.get(kind).forEach(each -> all.addAll(each.sent()));
    return sites.get(kind).check(all, threads);
  }

  private static void put(
      Map<String, Double> numbers, String prefix, Verdict verdict, long miscounted) {
    numbers.put(prefix + "answered", (double) verdict.answered());
    numbers.put(prefix + "lost", (double) verdict.lost());
    numbers.put(prefix + "doubled", (double) verdict.doubled());
    numbers.put(prefix + "invented", (double) verdict.invented());
    numbers.put(prefix + "damaged", (double) verdict.damaged());
    numbers.put(prefix + "miscounted", (double) miscounted);
  }

  @Override
  public void close() {
    sites.values().forEach(MailSite::close);
    uids.close();
    threads.shutdownNow();
  }
}
