// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.NodeSpec;
import io.isolde.cluster.NodeTool;
import io.isolde.cluster.ToolException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A soak of small heaps: large commits beside a client that reads slowly, with a follower that is
 * slow, one that is dead, and both. No node may die of it; what does not fit has to be refused.
 */
final class MemoryBenchmark implements Benchmark {
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

  @Override
  public String name() {
    return "memory";
  }

  @Override
  public String summary() {
    return "whether nodes with small heaps survive large commits, slow readers and dead followers";
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    // With Cassandra's own time-outs: for so long it keeps what it can't send.
    NodeSpec spec =
        TemporaryNode.spec(options)
            .withHeapMegabytes(Math.min(MAX_HEAP_MEGABYTES, options.heapMegabytes()))
            .withCassandraSetting("write_request_timeout", "2s")
            .withCassandraSetting("read_request_timeout", "5s");
    AtomicBoolean isOver = new AtomicBoolean();
    try (TemporaryNode cluster = TemporaryNode.start("bench", NODES, spec, out);
        CqlSession session = cluster.connect()) {
      BenchOptions large = options.withRows(ROWS, ROW_BYTES);
      RowTable table = RowTable.createTransactional(session, "large", large);
      table.load();
      CompletableFuture<Void> reading =
          CompletableFuture.runAsync(() -> readSlowly(session, isOver));
      try {
        return Report.of(name(), options, soak(cluster, session, table, options, out));
      } finally {
        isOver.set(true);
        reading.join();
      }
    }
  }

  private static Map<String, Double> soak(
      TemporaryNode cluster,
      CqlSession session,
      RowTable table,
      BenchOptions options,
      PrintWriter out) {
    Workload commits = MultiStatements.transactions(session, table).updates(ROWS_PER_COMMIT);
    Duration step = Duration.ofMinutes(Math.max(1, options.soakMinutes())).dividedBy(STEPS);
    LocalNode slow = cluster.nodes().get(NODES - 1);
    LocalNode dead = cluster.nodes().get(NODES - 2);
    Map<String, Double> metrics = new LinkedHashMap<>();
    measure("all_up", commits, options, step, cluster, metrics, out);
    slow.pause();
    try {
      measure("one_slow", commits, options, step, cluster, metrics, out);
    } finally {
      slow.resume();
    }
    dead.kill();
    measure("one_dead", commits, options, step, cluster, metrics, out, dead);
    try (Stutter stutter = new Stutter(slow)) {
      measure("dead_and_slow", commits, options, step, cluster, metrics, out, dead);
    }
    dead.start();
    measure("all_up_again", commits, options, step, cluster, metrics, out);
    for (LocalNode node : cluster.nodes()) {
      try (NodeTool tool = node.nodeTool()) {
        tool.collectHeapGarbage();
        metrics.put(node.name() + "_heap_mb", tool.usedHeapBytes() / 1048576.0);
      }
    }
    return metrics;
  }

  /** Has a node stand still for half of the time, until it is closed. */
  private static final class Stutter implements AutoCloseable {
    private final AtomicBoolean isOver = new AtomicBoolean();
    private final CompletableFuture<Void> running;

    Stutter(LocalNode node) {
      running = CompletableFuture.runAsync(() -> run(node));
    }

    private void run(LocalNode node) {
      while (!isOver.get()) {
        node.pause();
        pause(STUTTER_MILLIS);
        node.resume();
        pause(STUTTER_MILLIS);
      }
    }

    private static void pause(int millis) {
      try {
        Thread.sleep(millis);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void close() {
      isOver.set(true);
      running.join();
    }
  }

  private static void measure(
      String name,
      Workload commits,
      BenchOptions options,
      Duration step,
      TemporaryNode cluster,
      Map<String, Double> metrics,
      PrintWriter out,
      LocalNode... expectedDead) {
    Measurement seen = ClosedLoop.run(commits, options.inFlight(), step);
    metrics.put(name + "_commits_per_second", seen.operationsPerSecond());
    metrics.put(name + "_refused", (double) seen.errors());
    out.printf(
        "  %-14s %.1f commits/s, %d refused%n", name, seen.operationsPerSecond(), seen.errors());
    seen.firstError().ifPresent(error -> out.printf("    %s%n", error));
    out.flush();
    for (LocalNode node : cluster.nodes()) {
      if (!node.isAlive() && !List.of(expectedDead).contains(node)) {
        throw new ToolException("%s died:%n%s".formatted(node, node.logTail(30)), null);
      }
    }
  }

  /** One page at a time, with pauses, over and over. */
  private static void readSlowly(CqlSession session, AtomicBoolean isOver) {
    SimpleStatement all =
        SimpleStatement.newInstance("SELECT * FROM " + RowTable.KEYSPACE + ".large")
            .setPageSize(ROWS_PER_PAGE);
    while (!isOver.get()) {
      try {
        Iterator<Row> rows = session.execute(all).iterator();
        for (int read = 1; rows.hasNext() && !isOver.get(); read++) {
          var unused = rows.next();
          if (read % ROWS_PER_PAGE == 0) {
            Thread.sleep(READER_PAUSE_MILLIS);
          }
        }
      } catch (DriverException aNodeIsDownOrTheSnapshotTooOld) {
        // From the start.
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }
}
