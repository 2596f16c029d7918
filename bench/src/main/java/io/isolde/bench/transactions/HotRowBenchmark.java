// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.transactions;

import com.datastax.oss.driver.api.core.CqlSession;
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
import io.isolde.client.TransactionOptions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.LongAdder;

/**
 * One row that all clients read and write: transactions that run again after a conflict, and those
 * that lock it. And what clients of other rows have of that.
 */
public final class HotRowBenchmark {
  private static final int CLIENTS = 16;

  /** Others that leave processors free. */
  private static final int FEW_CLIENTS = 2;

  /** Of the hot row, beside others: about half of what it takes alone. */
  private static final int LOCKED_PER_SECOND = 60;

  private static final Duration LEAD_IN = Duration.ofSeconds(2);

  /** Whoever gives up would make the row less hot. */
  private static final TransactionOptions PATIENT =
      TransactionOptions.builder().maxAttempts(10_000).timeLimit(Duration.ofMinutes(2)).build();

  private HotRowBenchmark() {}

  /** The benchmark on so many nodes. */
  public static Benchmark.Part onNodes(int nodes) {
    return run -> run(nodes, run);
  }

  private static Report run(int nodes, Run run) {
    run.say("Cassandra with Isolde, %d nodes".formatted(nodes));
    String suffix = "_%dn".formatted(nodes);
    BenchOptions options = run.options().onNodes(nodes);
    try (TemporaryNode cluster =
        TemporaryNode.start("bench", nodes, TemporaryNode.spec(options), run.out())) {
      BenchOptions one = options.withRows(1, options.rowBytes());
      RowTable hot = RowTable.createTransactional(cluster, "hot", one).load();
      RowTable others = RowTable.createTransactional(cluster, "others", options).load();
      cluster.flush(RowTable.KEYSPACE);
      HotChanges again = new HotChanges(cluster.session(), hot, "");
      HotChanges locked = new HotChanges(cluster.session(), hot, " FOR UPDATE");
      Case beside = new Case("beside_nothing" + suffix, others.updates());
      Case besideLocks =
          new Case("beside_locks" + suffix, others.updates())
              .during(locked, LOCKED_PER_SECOND, LEAD_IN);
      Cases cases = new Cases();
      cases.pair(
          new Case("hot_row" + suffix, again).at(CLIENTS),
          new Case("locked_row" + suffix, locked).at(CLIENTS),
          "again");
      for (int clients : List.of(CLIENTS, FEW_CLIENTS)) {
        cases.pair(beside.at(clients), besideLocks.at(clients), "nothing");
      }
      Report report = run.measure(cluster.tools(), cases);
      Map<String, Double> attempts = new LinkedHashMap<>();
      attempts.put("hot_row_attempts" + suffix, again.attemptsEach());
      attempts.put("locked_row_attempts" + suffix, locked.attemptsEach());
      return report.with(attempts);
    }
  }

  /** Reads a row of a table and writes it, in a transaction; again after a conflict. */
  private static final class HotChanges implements Workload {
    private final Isolde isolde;
    private final RowTable table;
    private final PreparedStatement read;
    private final LongAdder transactions = new LongAdder();
    private final LongAdder attempts = new LongAdder();

    HotChanges(CqlSession session, RowTable table, String how) {
      this.isolde = Isolde.on(session);
      this.table = table;
      this.read =
          session.prepare(table.read(table.anyRow()).getPreparedStatement().getQuery() + how);
    }

    @Override
    public CompletionStage<?> send() {
      transactions.increment();
      long row = table.anyRow();
      return isolde.runAsync(
          PATIENT,
          tx -> {
            attempts.increment();
            return tx.executeAsync(read.bind(row))
                .thenCompose(found -> tx.writeAsync(table.update(row)))
                .thenApply(done -> (Object) null);
          });
    }

    double attemptsEach() {
      return (double) attempts.sum() / Math.max(1, transactions.sum());
    }
  }
}
