// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.snapshots;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.NodeTool;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import java.util.stream.LongStream;

/**
 * A table of the snapshots benchmark with the requests of the paper's workloads. As with YCSB's
 * defaults, an update changes one column of several and a read wants all of them. So a row that was
 * updated lies in several SSTables.
 */
final class SnapshotTable {
  private static final String KEYSPACE = "snapshots_bench";
  private static final int AT_ONCE = 100;
  private static final int COLUMNS = 4;
  private static final String ALL_COLUMNS = "v0, v1, v2, v3";

  private final CqlSession session;
  private final NodeTool tool;
  private final String name;
  private final int loaded;
  private final byte[] filling;
  private final PreparedStatement insert;
  private final List<PreparedStatement> updates = new ArrayList<>();
  private final PreparedStatement read;
  private final AtomicLong newest;

  private SnapshotTable(TemporaryNode node, String name, BenchOptions options) {
    this.session = node.session();
    this.tool = node.tools().get(0);
    this.name = name;
    this.loaded = options.rows();
    this.filling = new byte[options.rowBytes() / COLUMNS];
    this.newest = new AtomicLong(loaded - 1);
    ThreadLocalRandom.current().nextBytes(filling);
    this.insert =
        session.prepare(
            "INSERT INTO %s (p, %s) VALUES (?, ?, ?, ?, ?)".formatted(fullName(), ALL_COLUMNS));
    for (int i = 0; i < COLUMNS; i++) {
      updates.add(session.prepare("UPDATE %s SET v%d = ? WHERE p = ?".formatted(fullName(), i)));
    }
    this.read = session.prepare(select(""));
  }

  private String select(String asOf) {
    return "SELECT %s FROM %s %s WHERE p = ?".formatted(ALL_COLUMNS, fullName(), asOf);
  }

  /**
   * Creates a table and loads it into one SSTable.
   *
   * @param isCompacted whether Cassandra compacts it by itself
   */
  static SnapshotTable create(
      TemporaryNode node, String name, BenchOptions options, boolean isCompacted) {
    node.createKeyspace(KEYSPACE);
    node.session()
        .execute(
            """
            CREATE TABLE %s.%s (p bigint PRIMARY KEY, v0 blob, v1 blob, v2 blob, v3 blob)
            WITH compaction = {'class': 'SizeTieredCompactionStrategy', 'enabled': '%s'}"""
                .formatted(KEYSPACE, name, isCompacted));
    SnapshotTable table = new SnapshotTable(node, name, options);
    table.write(options.rows(), table::insert);
    return table;
  }

  private String fullName() {
    return KEYSPACE + "." + name;
  }

  /** Updates so many rows, whichever, and flushes. */
  void update(int count) {
    write(count, number -> update());
  }

  private void write(int count, LongFunction<BoundStatement> statements) {
    List<CompletableFuture<?>> sent = new ArrayList<>();
    for (long i = 0; i < count; i++) {
      sent.add(session.executeAsync(statements.apply(i)).toCompletableFuture());
      if (sent.size() == AT_ONCE || i == count - 1) {
        CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new)).join();
        sent.clear();
      }
    }
    flush();
  }

  void flush() {
    tool.flush(KEYSPACE, name);
  }

  private BoundStatement insert(long key) {
    return insert.bind(key, value(), value(), value(), value());
  }

  private BoundStatement update() {
    int column = ThreadLocalRandom.current().nextInt(COLUMNS);
    return updates.get(column).bind(value(), any());
  }

  private ByteBuffer value() {
    return ByteBuffer.wrap(filling);
  }

  private long any() {
    return ThreadLocalRandom.current().nextLong(loaded);
  }

  /** Near the newest, as in YCSB's "latest", though with a simpler distribution. */
  private static long near(long newest) {
    double distance = Math.pow(ThreadLocalRandom.current().nextDouble(), 3);
    return newest - (long) (distance * newest);
  }

  /** Takes a snapshot, and returns how long that took, in milliseconds. */
  double snapshot(String snapshot) {
    long start = System.nanoTime();
    session.execute("CREATE SNAPSHOT %s ON %s".formatted(snapshot, fullName()));
    return (System.nanoTime() - start) / 1e6;
  }

  void drop(String snapshot) {
    session.execute("DROP SNAPSHOT " + snapshot);
  }

  Row status(String snapshot) {
    return session
        .execute("SELECT * FROM isolde.snapshots WHERE name = '%s'".formatted(snapshot))
        .one();
  }

  /** Reads of any loaded row. */
  Workload reads() {
    return () -> session.executeAsync(read.bind(any()));
  }

  /** Writes of any loaded row. */
  Workload updates() {
    return () -> session.executeAsync(update());
  }

  Workload snapshotReads(String snapshot) {
    PreparedStatement past = session.prepare(select("AS OF SNAPSHOT " + snapshot));
    return () -> session.executeAsync(past.bind(any()));
  }

  /** Reads near the newest row. */
  Workload latestReads() {
    return () -> session.executeAsync(read.bind(near(newest.get())));
  }

  /** Reads near the newest row that a snapshot has. */
  Workload latestSnapshotReads(String snapshot) {
    PreparedStatement past = session.prepare(select("AS OF SNAPSHOT " + snapshot));
    return () -> session.executeAsync(past.bind(near(loaded - 1)));
  }

  /** Writes of rows that were not there. */
  Workload inserts() {
    return () -> session.executeAsync(insert(newest.incrementAndGet()));
  }

  /**
   * How many SSTables its reads looked at, since somebody asked last: of each number, the share.
   * Cassandra counts 1 to 8 one by one, then in steps.
   */
  double[] sstablesPerRead() {
    long[] counts = (long[]) metric("SSTablesPerReadHistogram", "RecentValues");
    double all = LongStream.of(counts).sum();
    double[] shares = new double[Math.min(counts.length, 12)];
    for (int i = 0; i < shares.length; i++) {
      shares[i] = all == 0 ? 0 : counts[i] / all;
    }
    return shares;
  }

  /** Live SSTables now. */
  int sstables() {
    return (Integer) metric("LiveSSTableCount", "Value");
  }

  private Object metric(String metric, String attribute) {
    return tool.attribute(
        "org.apache.cassandra.metrics:type=Table,keyspace=%s,scope=%s,name=%s"
            .formatted(KEYSPACE, name, metric),
        attribute);
  }

  /** Waits until no compaction of the node is due or under way. */
  void awaitCompactions() {
    Pause.until("compactions have ended", 60, () -> pendingCompactions() == 0);
  }

  private int pendingCompactions() {
    return (Integer)
        tool.attribute("org.apache.cassandra.metrics:type=Compaction,name=PendingTasks", "Value");
  }
}
