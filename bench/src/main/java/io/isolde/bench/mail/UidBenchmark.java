// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.StockAndIsolde;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The last part of the mail benchmark on three nodes, by itself: {@link UidCases}. */
public final class UidBenchmark {
  private static final int NODES = 3;
  private static final int MAILBOXES = 1_000;

  private UidBenchmark() {}

  /** Runs the benchmark on nodes of its own. */
  public static Report run(Run run) {
    List<MailKind> kinds = List.of(MailKind.values());
    ExecutorService threads = Executors.newFixedThreadPool(run.options().inFlight());
    try (StockAndIsolde clusters = MailKind.start(NODES, run);
        UidCases uids = new UidCases(run, clusters, kinds, threads)) {
      kinds.forEach(kind -> kind.createKeyspace(keyspace(kind), kind.in(clusters)));
      uids.create(UidBenchmark::keyspace, MAILBOXES);
      Report report = uids.measure(run.options().warmupSeconds());
      return report.with(Map.of("miscounted", (double) miscounted(kinds, uids)));
    } finally {
      threads.shutdownNow();
    }
  }

  private static String keyspace(MailKind kind) {
    return "uids_" + kind.text();
  }

  private static long miscounted(List<MailKind> kinds, UidCases uids) {
    return kinds.stream().filter(MailKind::isIsolde).mapToLong(uids::miscounted).sum();
  }
}
