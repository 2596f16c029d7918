// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.client.IsolationLevel;
import io.isolde.client.Isolde;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Epoch after epoch, until the time is over or something is wrong. */
public final class Torture {
  private static final String ORDINARY = "{'class': 'SimpleStrategy', 'replication_factor': 3}";

  /** With leaders on several nodes. */
  private static final String STRONG =
      "{'class': 'ReplicatedLogStrategy', 'replication_factor': 3, 'groups': 3}";

  private static final int KEYS_PER_EPOCH = 100_000;
  private static final Duration MEMBERSHIP_WAIT = Duration.ofMinutes(1);

  private final TortureOptions options;
  private final PrintWriter out;

  private Torture(TortureOptions options, PrintWriter out) {
    this.options = options;
    this.out = out;
  }

  /**
   * Runs it. Stops early at the first violation, with the nodes' logs left in the folder.
   *
   * @param folder of the cluster; what was there is deleted
   * @param out is told what happens
   */
  public static TortureReport run(TortureOptions options, Path folder, PrintWriter out) {
    Torture torture = new Torture(options, out);
    return options.workload() == WorkloadKind.READS
        ? ReadsTorture.run(options, folder, torture::say)
        : torture.run(folder);
  }

  private TortureReport run(Path folder) {
    long start = System.nanoTime();
    Random random = new Random(options.seed());
    List<EpochResult> results = new ArrayList<>();
    say("Seed %d: a cluster of %d nodes".formatted(options.seed(), options.nodes()));
    try (TortureCluster cluster =
        TortureCluster.start(folder, options, progress -> say("  " + progress))) {
      define(cluster);
      Faults faults = new Faults(cluster, options);
      boolean isFine = true;
      while (isFine && System.nanoTime() - start < options.duration().toNanos()) {
        EpochResult result = epoch(results.size() + 1, cluster, random).run(faults, random);
        results.add(result);
        say(TortureReport.line(result));
        result.violations().forEach(this::say);
        isFine = result.violations().isEmpty();
        cluster.nodes().awaitMembership(MEMBERSHIP_WAIT);
      }
    }
    return new TortureReport(options, Duration.ofNanos(System.nanoTime() - start), results);
  }

  private void define(TortureCluster cluster) {
    if (options.workload() == WorkloadKind.STRONG) {
      cluster.define(StatementTables.ofStrongKeyspace());
      return;
    }
    List<String> statements = new ArrayList<>();
    statements.add(
        "CREATE KEYSPACE torture WITH replication = "
            + (options.workload() == WorkloadKind.STRONG_TRANSACTIONS ? STRONG : ORDINARY));
    for (CheckedWorkload workload : transactions(IsolationLevel.SERIALIZABLE, 0, null)) {
      statements.addAll(workload.tables());
    }
    statements.addAll(new UniqueWorkload(0, null).tables());
    statements.addAll(new WatchWorkload(0, null).tables());
    statements.addAll(StatementTables.ofTransactions());
    cluster.define(statements);
  }

  private static List<CheckedWorkload> transactions(
      IsolationLevel level, int firstKey, CqlSession session) {
    List<CheckedWorkload> workloads = new ArrayList<>();
    for (ListStore store : ListStore.values()) {
      workloads.add(new ListAppendWorkload(store, level, firstKey));
    }
    for (RegisterPlace place : RegisterPlace.values()) {
      workloads.add(new RegisterWorkload(place, level, firstKey, session));
    }
    workloads.add(new BankWorkload(firstKey));
    return workloads;
  }

  private static List<CheckedWorkload> statements(StatementTables tables, int firstKey) {
    return List.of(
        new SingleRegisterWorkload(tables.new InARow(), firstKey, tables.stepsPerTruncation()),
        new SingleRegisterWorkload(tables.new InABatch(), firstKey, tables.stepsPerTruncation()),
        new SingleListWorkload(tables.new Lists(), firstKey));
  }

  private Epoch epoch(int number, TortureCluster cluster, Random random) {
    IsolationLevel level =
        random.nextInt(3) == 0 ? IsolationLevel.SNAPSHOT : IsolationLevel.SERIALIZABLE;
    int firstKey = number * KEYS_PER_EPOCH;
    List<CheckedWorkload> workloads = new ArrayList<>();
    if (options.workload() == WorkloadKind.BLOCKS) {
      level = IsolationLevel.SERIALIZABLE;
      workloads.add(new RegisterWorkload(RegisterPlace.ROW, level, firstKey, cluster.session()));
    } else if (options.workload() == WorkloadKind.CELLS) {
      level = IsolationLevel.SNAPSHOT;
      workloads.add(new RegisterWorkload(RegisterPlace.CELL, level, firstKey, cluster.session()));
    } else if (options.workload() == WorkloadKind.WATCHES) {
      workloads.add(new WatchWorkload(firstKey, cluster.session()));
    } else if (options.workload() == WorkloadKind.STRONG) {
      StatementTables tables = StatementTables.strong(cluster.session());
      workloads.addAll(statements(tables, firstKey));
      workloads.add(new CounterWorkload(tables.new Counters(), firstKey));
    } else {
      workloads.addAll(transactions(level, firstKey, cluster.session()));
      workloads.add(new UniqueWorkload(firstKey, cluster.session()));
      workloads.add(new WatchWorkload(firstKey, cluster.session()));
      workloads.addAll(statements(StatementTables.transactional(cluster.session()), firstKey));
    }
    return new Epoch(
        number,
        workloads.get(random.nextInt(workloads.size())),
        level,
        Isolde.on(cluster.session()),
        options.clients());
  }

  private void say(String sentence) {
    out.println(sentence);
    out.flush();
  }
}
