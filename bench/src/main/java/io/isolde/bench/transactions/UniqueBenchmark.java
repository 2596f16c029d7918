// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.transactions;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import io.isolde.bench.kit.BenchOptions;
import io.isolde.bench.kit.Benchmark;
import io.isolde.bench.kit.Case;
import io.isolde.bench.kit.Cases;
import io.isolde.bench.kit.Report;
import io.isolde.bench.kit.Run;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.RowTable;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.ToolException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Rows with a unique value, by a unique index and as applications do without: a table of values,
 * where a lightweight transaction takes one before the row is written. Then reads by the value.
 */
public final class UniqueBenchmark {
  private static final int AT_ONCE = 50;

  private UniqueBenchmark() {}

  /** The benchmark on so many nodes. */
  public static Benchmark.Part onNodes(int nodes) {
    return run -> run(nodes, run);
  }

  private static Report run(int nodes, Run run) {
    run.say("Cassandra with Isolde, %d nodes".formatted(nodes));
    BenchOptions options = run.options().onNodes(nodes);
    try (TemporaryNode cluster =
        TemporaryNode.start("bench", nodes, TemporaryNode.spec(options), run.out())) {
      cluster.createKeyspace(RowTable.KEYSPACE);
      ByHand byHand = ByHand.create(cluster, options);
      ByIndex byIndex = ByIndex.create(cluster, options);
      load(byHand.insert(), options.rows());
      load(byIndex.insert(), options.rows());
      cluster.flush(RowTable.KEYSPACE);
      String suffix = "_%dn".formatted(nodes);
      Cases cases = new Cases();
      addPair(cases, "insert", suffix, byHand.insert(), byIndex.insert());
      addPair(cases, "read", suffix, byHand.read(), byIndex.read());
      return run.reportWithCpu(run.samples(cluster.tools(), cases), cases.ratios());
    }
  }

  private static void load(Workload inserts, int rows) {
    for (int n = 0; n < rows; n += AT_ONCE) {
      CompletableFuture<?>[] some = new CompletableFuture<?>[AT_ONCE];
      Arrays.setAll(some, i -> inserts.send().toCompletableFuture());
      CompletableFuture.allOf(some).join();
    }
  }

  private static void addPair(
      Cases cases, String name, String suffix, Workload byHand, Workload byIndex) {
    Case hand = new Case("lwt_unique_" + name + suffix, byHand);
    Case index = new Case("index_unique_" + name + suffix, byIndex);
    cases.pair(hand.at(1), index.at(1), "lwt");
    cases.pair(hand, index, "lwt");
  }

  private static String table(TemporaryNode node, String name, String columns) {
    String table = RowTable.KEYSPACE + "." + name;
    node.session().execute("CREATE TABLE %s (%s)".formatted(table, columns));
    node.awaitSchema();
    return table;
  }

  private static ByteBuffer filling(int bytes) {
    byte[] filling = new byte[bytes];
    ThreadLocalRandom.current().nextBytes(filling);
    return ByteBuffer.wrap(filling);
  }

  private static AsyncResultSet one(AsyncResultSet answer) {
    if (answer.remaining() != 1) {
      throw new ToolException("%d rows have a value that one has.".formatted(answer.remaining()));
    }
    return answer;
  }

  /** Values in a plain table, and rows in another one. */
  private record ByHand(
      CqlSession session,
      AtomicLong next,
      ByteBuffer value,
      PreparedStatement take,
      PreparedStatement write,
      PreparedStatement find,
      PreparedStatement select) {
    static ByHand create(TemporaryNode node, BenchOptions options) {
      String rows = table(node, "by_hand", "p bigint PRIMARY KEY, k text, v blob");
      String values = table(node, "by_hand_values", "k text PRIMARY KEY, p bigint");
      CqlSession session = node.session();
      return new ByHand(
          session,
          new AtomicLong(),
          filling(options.rowBytes()),
          session.prepare("INSERT INTO %s (k, p) VALUES (?, ?) IF NOT EXISTS".formatted(values)),
          session.prepare("INSERT INTO %s (p, k, v) VALUES (?, ?, ?)".formatted(rows)),
          session.prepare("SELECT p FROM %s WHERE k = ?".formatted(values)),
          session.prepare("SELECT k, v FROM %s WHERE p = ?".formatted(rows)));
    }

    Workload insert() {
      return () -> {
        long n = next.getAndIncrement();
        return session
            .executeAsync(take.bind("value" + n, n).setConsistencyLevel(ConsistencyLevel.QUORUM))
            .thenCompose(
                taken ->
                    session.executeAsync(
                        write
                            .bind(n, "value" + n, value)
                            .setConsistencyLevel(ConsistencyLevel.QUORUM)));
      };
    }

    Workload read() {
      return () -> {
        long n = ThreadLocalRandom.current().nextLong(next.get() / 2);
        CompletionStage<AsyncResultSet> found =
            session.executeAsync(
                find.bind("value" + n).setConsistencyLevel(ConsistencyLevel.QUORUM));
        return found.thenCompose(
            answer ->
                session
                    .executeAsync(
                        select
                            .bind(one(answer).one().getLong(0))
                            .setConsistencyLevel(ConsistencyLevel.QUORUM))
                    .thenApply(UniqueBenchmark::one));
      };
    }
  }

  /** A transactional table with a unique index. */
  private record ByIndex(
      CqlSession session,
      AtomicLong next,
      ByteBuffer value,
      PreparedStatement write,
      PreparedStatement select) {
    static ByIndex create(TemporaryNode node, BenchOptions options) {
      String rows = table(node, "by_index", "p bigint PRIMARY KEY, k text, v blob");
      CqlSession session = node.session();
      session.execute("ENABLE TRANSACTIONS ON " + rows);
      session.execute("CREATE UNIQUE INDEX ON %s (k)".formatted(rows));
      node.awaitSchema();
      return new ByIndex(
          session,
          new AtomicLong(),
          filling(options.rowBytes()),
          session.prepare("INSERT INTO %s (p, k, v) VALUES (?, ?, ?)".formatted(rows)),
          session.prepare("SELECT k, v FROM %s WHERE k = ?".formatted(rows)));
    }

    Workload insert() {
      return () -> {
        long n = next.getAndIncrement();
        return session.executeAsync(write.bind(n, "value" + n, value));
      };
    }

    Workload read() {
      return () ->
          session
              .executeAsync(
                  select.bind("value" + ThreadLocalRandom.current().nextLong(next.get() / 2)))
              .thenApply(UniqueBenchmark::one);
    }
  }
}
