// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.client.Isolde;
import io.isolde.client.PushOptions;
import io.isolde.client.Watch;
import io.isolde.client.WatchListener;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.ToolException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * What watches cost those who write to a table of a strong keyspace: how many writes a second there
 * are, and what processor time nodes need for each. There are no watches, or some of rows that
 * nobody writes, or as many of rows that are written. Each is of another row.
 */
public final class WatchedWritesBenchmark implements AutoCloseable {
  private static final int NODES = 3;
  private static final String PORT = "7314";
  private static final int PATIENCE_SECONDS = 120;

  private final Isolde isolde;
  private final String statement;
  private final int count;
  private final List<Watch> watches = new ArrayList<>();

  /** The first row that is watched now; negative if none is. */
  private long first = -1;

  private final LongAdder notified = new LongAdder();
  private final LongAdder lost = new LongAdder();

  private WatchedWritesBenchmark(Isolde isolde, String table, int count) {
    this.isolde = isolde;
    this.statement = "SELECT CHANGES FROM %s WHERE p = ?".formatted(table);
    this.count = count;
  }

  /** Runs it. */
  public static Report run(Run run) {
    BenchOptions options = run.options().onNodes(NODES);
    NodeSpec spec = TemporaryNode.spec(options).withIsoldeSetting("push_port", PORT);
    int watchers = Math.min(options.watchers(), options.rows());
    try (TemporaryNode cluster = TemporaryNode.start("watched", NODES, spec, run.out())) {
      RowTable table = RowTable.createStrong(cluster, "watched", "batch", options).load();
      Isolde isolde = Isolde.on(cluster.session()).withPush(PushOptions.defaults());
      try (WatchedWritesBenchmark watched =
          new WatchedWritesBenchmark(isolde, table.name(), watchers)) {
        Cases cases =
            new Cases()
                .add(new Case("unwatched", table.updates()).after(watched::nothing))
                .add(
                    new Case("watched_elsewhere", table.updates())
                        .after(() -> watched.rowsFrom(options.rows())))
                .add(new Case("watched", table.updates()).after(() -> watched.rowsFrom(0)))
                .ratio("watched_elsewhere_vs_unwatched", "watched_elsewhere", "unwatched")
                .ratio("watched_vs_unwatched", "watched", "unwatched");
        Report report = run.reportWithCpu(run.samples(cluster.tools(), cases), cases.ratios());
        return report.with(watched.metrics());
      }
    }
  }

  private void nothing() {
    watches.forEach(Watch::close);
    watches.clear();
    first = -1;
  }

  private void rowsFrom(long row) {
    if (first == row) {
      return;
    }
    nothing();
    first = row;
    for (int i = 0; i < count; i++) {
      watches.add(isolde.watch(statement, List.of(row + i), new Counting()));
    }
    Pause.until(
        "all watch",
        PATIENCE_SECONDS,
        () -> watches.stream().allMatch(watch -> watch.position().isPresent()));
  }

  private final class Counting implements WatchListener {
    @Override
    public void changed(long commitTimestamp) {
      notified.increment();
    }

    @Override
    public void lost(long position) {
      lost.increment();
    }
  }

  /** Those who watch written rows hear of changes, and nobody loses one. */
  private Map<String, Double> metrics() {
    if (watches.stream().anyMatch(watch -> !watch.isOpen()) || notified.sum() == 0) {
      throw new ToolException("The watches did not hear of the writes.");
    }
    Map<String, Double> metrics = new LinkedHashMap<>();
    metrics.put("notified", (double) notified.sum());
    metrics.put("announced_losses", (double) lost.sum());
    return metrics;
  }

  @Override
  public void close() {
    nothing();
  }
}
