// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.transactions;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.AsyncResultSet;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
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
import io.isolde.client.Isolde;
import io.isolde.cluster.ToolException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

/** Reads of a few rows by an index of SAI: on a plain table, on a transactional one, and in one. */
public final class IndexesBenchmark {
  private static final int ROWS_PER_VALUE = 5;
  private static final int READS = 10;

  private IndexesBenchmark() {}

  /** The benchmark on so many nodes. */
  public static Benchmark.Part onNodes(int nodes) {
    return run -> run(nodes, run);
  }

  private static Report run(int nodes, Run run) {
    run.say("Cassandra with Isolde, %d nodes".formatted(nodes));
    BenchOptions options = run.options().onNodes(nodes);
    try (TemporaryNode cluster =
        TemporaryNode.start("bench", nodes, TemporaryNode.spec(options), run.out())) {
      Table plain = Table.create(cluster, "plain", options);
      Table ours = Table.create(cluster, "transactional", options);
      cluster.session().execute("ENABLE TRANSACTIONS ON " + ours.name);
      cluster.awaitSchema();
      plain.load();
      ours.load();
      cluster.flush(RowTable.KEYSPACE);
      String suffix = "_%dn".formatted(nodes);
      Cases cases = new Cases();
      addPair(cases, "index_read", suffix, plain.reads(), ours.reads());
      addPair(cases, "ten_index_reads", suffix, plain.tenReads(), ours.tenReadsInATransaction());
      return run.reportWithCpu(run.samples(cluster.tools(), cases), cases.ratios());
    }
  }

  private static void addPair(
      Cases cases, String name, String suffix, Workload plain, Workload ours) {
    Case stock = new Case("plain_" + name + suffix, plain);
    Case transactional = new Case("transactional_" + name + suffix, ours);
    cases.pair(stock.at(1), transactional.at(1), "plain");
    cases.pair(stock, transactional, "plain");
  }

  /** Each value of its indexed column is that of a few rows. */
  private record Table(
      CqlSession session,
      String name,
      int values,
      int rowBytes,
      PreparedStatement insert,
      PreparedStatement select) {

    static Table create(TemporaryNode node, String table, BenchOptions options) {
      node.createKeyspace(RowTable.KEYSPACE);
      CqlSession session = node.session();
      String name = RowTable.KEYSPACE + "." + table;
      session.execute("CREATE TABLE %s (p bigint PRIMARY KEY, k bigint, v blob)".formatted(name));
      session.execute("CREATE INDEX ON %s (k) USING 'sai'".formatted(name));
      node.awaitSchema();
      return new Table(
          session,
          name,
          options.rows() / ROWS_PER_VALUE,
          options.rowBytes(),
          session.prepare("INSERT INTO %s (p, k, v) VALUES (?, ?, ?)".formatted(name)),
          session.prepare("SELECT p, v FROM %s WHERE k = ?".formatted(name)));
    }

    void load() {
      byte[] filling = new byte[rowBytes];
      ThreadLocalRandom.current().nextBytes(filling);
      for (long value = 0; value < values; value++) {
        CompletableFuture<?>[] all = new CompletableFuture<?>[ROWS_PER_VALUE];
        for (int i = 0; i < ROWS_PER_VALUE; i++) {
          BoundStatement one =
              insert.bind(value * ROWS_PER_VALUE + i, value, ByteBuffer.wrap(filling));
          all[i] = session.executeAsync(one).toCompletableFuture();
        }
        CompletableFuture.allOf(all).join();
      }
    }

    private BoundStatement anyRead() {
      return select
          .bind(ThreadLocalRandom.current().nextLong(values))
          .setConsistencyLevel(ConsistencyLevel.QUORUM);
    }

    Workload reads() {
      return () -> checked(session.executeAsync(anyRead()));
    }

    Workload tenReads() {
      return () -> ten(session::executeAsync);
    }

    Workload tenReadsInATransaction() {
      Isolde isolde = Isolde.on(session);
      return () -> isolde.runAsync(tx -> ten(tx::executeAsync).thenApply(done -> (Object) null));
    }

    private CompletionStage<?> ten(
        Function<BoundStatement, CompletionStage<AsyncResultSet>> execute) {
      CompletionStage<?> last = CompletableFuture.completedFuture(null);
      for (int i = 0; i < READS; i++) {
        last = last.thenCompose(done -> checked(execute.apply(anyRead())));
      }
      return last;
    }

    private static CompletionStage<?> checked(CompletionStage<AsyncResultSet> answer) {
      return answer.thenAccept(
          rows -> {
            int found = rows.remaining();
            if (found != ROWS_PER_VALUE) {
              throw new ToolException(
                  "%d rows have a value that %d have.".formatted(found, ROWS_PER_VALUE));
            }
          });
    }
  }
}
