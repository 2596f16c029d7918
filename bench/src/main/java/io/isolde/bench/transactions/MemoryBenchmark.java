// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.transactions;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Repeated;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import io.isolde.cluster.ToolException;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A soak of small heaps: large commits beside a client that reads slowly, with a follower that is
 * slow, one that is dead, and both. No node may die of it; what does not fit has to be refused.
 */
public final class MemoryBenchmark {
  private static final int NODES = 3;
  private static final int STEPS = 5;
  private static final int MAX_HEAP_MEGABYTES = 512;
  private static final int ROWS = 500;
  private static final int ROW_BYTES = 64 << 10;

  /** Together 800 kB. */
  private static final int ROWS_PER_COMMIT = 12;

  private static final int ROWS_PER_PAGE = 10;
  private static final int READER_PAUSE_MILLIS = 200;
  private static final int STUTTER_MILLIS = 400;

  private final Run run;
  private final TemporaryNode cluster;
  private final Workload commits;
  private final Map<String, Double> metrics = new LinkedHashMap<>();

  private MemoryBenchmark(Run run, TemporaryNode cluster, Workload commits) {
    this.run = run;
    this.cluster = cluster;
    this.commits = commits;
  }

  /** Runs it. */
  public static Report run(Run run) {
    // With Cassandra's own time-outs: for so long it keeps what it can't send.
    NodeSpec spec =
        TemporaryNode.spec(run.options().withHeapUpTo(MAX_HEAP_MEGABYTES))
            .withCassandraSetting("write_request_timeout", "2s")
            .withCassandraSetting("read_request_timeout", "5s");
    try (TemporaryNode cluster = TemporaryNode.start("bench", NODES, spec, run.out())) {
      CqlSession session = cluster.session();
      RowTable table =
          RowTable.createTransactional(cluster, "large", run.options().withRows(ROWS, ROW_BYTES))
              .load();
      Workload commits = MultiStatements.transactions(session, table).updates(ROWS_PER_COMMIT);
      SlowReader reader = new SlowReader(session, table);
      try (Repeated reading = new Repeated("slow-reader", reader::readPage)) {
        return run.report(new MemoryBenchmark(run, cluster, commits).soak());
      }
    }
  }

  /** Reads the table one page at a time, with pauses, over and over. */
  private static final class SlowReader {
    private final CqlSession session;
    private final SimpleStatement all;
    private Iterator<Row> rows = Collections.emptyIterator();

    SlowReader(CqlSession session, RowTable table) {
      this.session = session;
      this.all =
          SimpleStatement.newInstance("SELECT * FROM " + table.name()).setPageSize(ROWS_PER_PAGE);
    }

    void readPage() {
      try {
        if (!rows.hasNext()) {
          rows = session.execute(all).iterator();
        }
        for (int i = 0; i < ROWS_PER_PAGE && rows.hasNext(); i++) {
          var unused = rows.next();
        }
        Pause.millis(READER_PAUSE_MILLIS);
      } catch (DriverException aNodeIsDownOrTheSnapshotTooOld) {
        rows = Collections.emptyIterator(); // From the start.
      }
    }
  }

  private Map<String, Double> soak() {
    LocalNode slow = cluster.nodes().get(NODES - 1);
    LocalNode dead = cluster.nodes().get(NODES - 2);
    measure("all_up", List.of());
    slow.pause();
    try {
      measure("one_slow", List.of());
    } finally {
      slow.resume();
    }
    dead.kill();
    measure("one_dead", List.of(dead));
    try (Repeated stutter = new Repeated("stutter", () -> stutter(slow))) {
      measure("dead_and_slow", List.of(dead));
    }
    dead.start();
    measure("all_up_again", List.of());
    for (LocalNode node : cluster.nodes()) {
      try (NodeTool tool = node.nodeTool()) {
        tool.collectHeapGarbage();
        metrics.put(node.name() + "_heap_mb", tool.usedHeapBytes() / 1048576.0);
      }
    }
    return metrics;
  }

  /** The node stands still for half of the time. */
  private static void stutter(LocalNode node) {
    node.pause();
    Pause.millis(STUTTER_MILLIS);
    node.resume();
    Pause.millis(STUTTER_MILLIS);
  }

  private void measure(String name, List<LocalNode> expectedDead) {
    Duration step = Duration.ofMinutes(Math.max(1, run.options().soakMinutes())).dividedBy(STEPS);
    Measurement seen = commits.run(run.options().inFlight(), step);
    metrics.put(name + "_commits_per_second", seen.operationsPerSecond());
    metrics.put(name + "_refused", (double) seen.errors());
    run.say(
        "  %-14s %.1f commits/s, %d refused"
            .formatted(name, seen.operationsPerSecond(), seen.errors()));
    seen.firstError().ifPresent(error -> run.say("    " + error));
    for (LocalNode node : cluster.nodes()) {
      if (!node.isAlive() && !expectedDead.contains(node)) {
        throw new ToolException("%s died:%n%s".formatted(node, node.logTail(30)), null);
      }
    }
  }
}
