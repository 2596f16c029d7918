// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.peers;

import com.scalar.db.api.DistributedTransactionAdmin;
import com.scalar.db.api.TableMetadata;
import com.scalar.db.exception.storage.ExecutionException;
import com.scalar.db.io.DataType;
import com.scalar.db.service.TransactionFactory;
import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Workload;
import io.isolde.bench.nodes.ChildControl;
import io.isolde.cluster.ToolException;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Clients of ScalarDB as a child process: transfers between the rows of a table of its own, as
 * {@code MultiStatements} makes them. On the class path of ScalarDB, not of this module.
 */
final class ScalarDbMain {
  /** A task: creates and fills the table. */
  static final String LOAD = "load";

  /** A task: keeps transfers in flight for so many milliseconds; the answer is how many ended. */
  static final String RUN_MILLIS = "run-millis";

  /** A question about the last run. */
  static final String MEAN_MICROS = "mean-micros";

  /** A question about the last run. */
  static final String P50_MICROS = "p50-micros";

  /** A question about the last run. */
  static final String P99_MICROS = "p99-micros";

  /** A question about the last run; the first error is in the log. */
  static final String ERRORS = "errors";

  /** More at a time are more than three nodes on a small machine can do. */
  private static final int LOADING = 4;

  private ScalarDbMain() {}

  /** Arguments: addresses, port, replicas, rows, bytes of a row, requests in flight. */
  public static void main(String[] arguments) throws InterruptedException {
    int replicas = Integer.parseInt(arguments[2]);
    int inFlight = Integer.parseInt(arguments[5]);
    TransactionFactory factory = TransactionFactory.create(settings(arguments[0], arguments[1]));
    ScalarDbTransfers transfers =
        new ScalarDbTransfers(
            factory.getTransactionManager(),
            Integer.parseInt(arguments[3]),
            Integer.parseInt(arguments[4]));
    ExecutorService threads = Executors.newFixedThreadPool(inFlight);
    Workload workload = () -> CompletableFuture.runAsync(transfers::transfer, threads);
    AtomicReference<Measurement> last = new AtomicReference<>();
    ChildControl.start(
        Map.of(
            LOAD,
            unused -> {
              createTable(factory, replicas);
              return load(transfers);
            },
            RUN_MILLIS,
            millis -> run(workload, inFlight, millis, last),
            MEAN_MICROS,
            unused -> (long) (1000 * last.get().meanMillis()),
            P50_MICROS,
            unused -> (long) (1000 * last.get().p50Millis()),
            P99_MICROS,
            unused -> (long) (1000 * last.get().p99Millis()),
            ERRORS,
            unused -> last.get().errors()));
    Thread.sleep(Long.MAX_VALUE);
  }

  private static int load(ScalarDbTransfers transfers) {
    ExecutorService threads = Executors.newFixedThreadPool(LOADING);
    try {
      return transfers.load(threads);
    } finally {
      threads.shutdown();
    }
  }

  private static long run(
      Workload workload, int inFlight, long millis, AtomicReference<Measurement> last) {
    last.set(workload.run(inFlight, Duration.ofMillis(millis)));
    last.get().firstError().ifPresent(System.err::println);
    return last.get().operations();
  }

  /** What is not said has ScalarDB's default. */
  private static Properties settings(String addresses, String port) {
    Properties settings = new Properties();
    settings.setProperty("scalar.db.storage", "cassandra");
    settings.setProperty("scalar.db.contact_points", addresses);
    settings.setProperty("scalar.db.contact_port", port);
    settings.setProperty("scalar.db.transaction_manager", "consensus-commit");
    settings.setProperty("scalar.db.consensus_commit.isolation_level", "SERIALIZABLE");
    return settings;
  }

  private static void createTable(TransactionFactory factory, int replicas) {
    Map<String, String> options =
        Map.of("replication-strategy", "SimpleStrategy", "replication-factor", "" + replicas);
    TableMetadata table =
        TableMetadata.newBuilder()
            .addColumn(ScalarDbTransfers.KEY, DataType.BIGINT)
            .addColumn(ScalarDbTransfers.VALUE, DataType.BLOB)
            .addPartitionKey(ScalarDbTransfers.KEY)
            .build();
    try (DistributedTransactionAdmin admin = factory.getTransactionAdmin()) {
      admin.createCoordinatorTables(true, options);
      admin.createNamespace(ScalarDbTransfers.NAMESPACE, true, options);
      admin.createTable(ScalarDbTransfers.NAMESPACE, ScalarDbTransfers.TABLE, table, true, options);
    } catch (ExecutionException e) {
      throw new ToolException("ScalarDB can't create its tables: " + e.getMessage(), e);
    }
  }
}
