// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Processes;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Rounds;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Sample;
import io.isolde.bench.nodes.StockAndIsolde;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.mail.store.cql.MailboxStore;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * The mailboxes alone, without mail servers and contents: deliveries per second to many mailboxes,
 * and to one, for each kind in turns.
 */
final class UidCases implements AutoCloseable {
  private final Run run;
  private final StockAndIsolde clusters;
  private final List<MailKind> kinds;
  private final Executor threads;
  private final Processes everything;

  /** Requests of strong keyspaces go to leaders, as those of mail servers do. */
  private final CqlSession routed;

  private final List<Case> cases = new ArrayList<>();
  private final Map<MailKind, List<UidCommits>> commits = new EnumMap<>(MailKind.class);

  UidCases(Run run, StockAndIsolde clusters, List<MailKind> kinds, Executor threads) {
    this.run = run;
    this.clusters = clusters;
    this.kinds = kinds;
    this.threads = threads;
    this.everything = Processes.ofNodes(clusters.tools());
    this.routed = clusters.isolde().connectRouted();
  }

  /**
   * Creates the mailboxes, in keyspaces that are there.
   *
   * @param many how many mailboxes are many
   */
  void create(Function<MailKind, String> keyspace, int many) {
    for (MailKind kind : kinds) {
      TemporaryNode cluster = kind.in(clusters);
      MailboxStore store =
          kind.open(kind.isIsolde() ? routed : cluster.session(), keyspace.apply(kind));
      UidCommits toMany = UidCommits.to(many, store, threads);
      UidCommits toOne = UidCommits.to(1, store, threads);
      commits.put(kind, List.of(toMany, toOne));
      add(MailFigures.commits(kind), toMany, kind);
      add(MailFigures.commitsToOne(kind), toOne, kind);
    }
  }

  /** For half the time: these are many more than messages. */
  private void add(String name, UidCommits load, MailKind kind) {
    cases.add(
        new Case(name, (inFlight, duration) -> load.run(inFlight, duration.dividedBy(2)))
            .after(() -> QuietNodes.await(clusters.tools()))
            .on(kind.processes(clusters)));
  }

  /**
   * Warms up and measures all cases.
   *
   * @param warmupSeconds of each
   */
  Report measure(int warmupSeconds) {
    new Passes(run, everything).warmUp(cases, warmupSeconds);
    Map<String, List<Sample>> samples =
        new Rounds(run, everything).measure(round -> Rounds.inOrderOf(round, cases));
    return run.reportWithCpu(samples, List.of()).with(MailFigures.commits(kinds, samples));
  }

  /** How many deliveries the mailboxes of a kind have counted too few or too many. */
  long miscounted(MailKind kind) {
    return commits.get(kind).stream().mapToLong(UidCommits::miscounted).sum();
  }

  @Override
  public void close() {
    routed.close();
  }
}
