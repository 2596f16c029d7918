// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.config.IsoldeConfig;
import io.isolde.error.IsoldeException;
import io.isolde.transaction.gate.ClusterGate;
import io.isolde.transaction.lane.ApplyLanes;
import io.isolde.version.NodeVersions;
import io.isolde.version.VersionClock;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.batchlog.BatchlogManager;
import org.apache.cassandra.concurrent.ScheduledExecutors;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.schema.TableMetadata;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All that a node needs to coordinate transactions for its clients. */
public final class Coordinator {
  private static final Logger logger = LoggerFactory.getLogger(Coordinator.class);
  private static final long EXPIRE_INTERVAL_MILLIS = 200;

  private final Transactions transactions;
  private final DataStatements data;
  private final TableMode mode;
  private final InDoubt inDoubt;

  private Coordinator(
      IsoldeConfig config,
      ClusterGate gate,
      StrongTables strong,
      Oracle oracle,
      ApplyLanes lanes,
      TransactionListener listener) {
    MutationApplier applier = new MutationApplier(strong, !oracle.keepsWrites(), lanes);
    this.inDoubt =
        new InDoubt(
            oracle,
            applier::later,
            () -> DatabaseDescriptor.getReadRpcTimeout(TimeUnit.MILLISECONDS),
            listener);
    Committer committer =
        new Committer(oracle, applier, inDoubt, config.commitTimeoutMillis(), listener);
    this.transactions =
        new Transactions(config, oracle, committer, () -> System.nanoTime() / 1_000_000, listener);
    this.data = new DataStatements(oracle, committer, inDoubt, strong);
    this.mode = new TableMode(oracle, inDoubt, gate, strong, config.maxTimestampLeadMicros());
  }

  /**
   * Starts coordinating.
   *
   * @param gate that the statements of all clients of all nodes pass
   * @param strong the tables of strong keyspaces
   * @param lanes to the other replicas
   * @param clock what the version store is to know of the oracle's time
   * @param listener hears what becomes of the transactions
   */
  public static Coordinator start(
      IsoldeConfig config,
      ClusterGate gate,
      StrongTables strong,
      Oracle oracle,
      ApplyLanes lanes,
      VersionClock clock,
      TransactionListener listener) {
    if (!oracle.keepsWrites()) {
      finishInterruptedCommits();
    }
    Coordinator coordinator = new Coordinator(config, gate, strong, oracle, lanes, listener);
    coordinator.mode.passExistingTimestamps();
    NodeVersions.ofThisNode().useClock(clock, oracle.next());
    var unused =
        ScheduledExecutors.optionalTasks.scheduleWithFixedDelay(
            () -> {
              coordinator.transactions.expire();
              oracle.keepUp();
            },
            EXPIRE_INTERVAL_MILLIS,
            EXPIRE_INTERVAL_MILLIS,
            TimeUnit.MILLISECONDS);
    return coordinator;
  }

  /** What the last process had begun to apply is applied before anybody looks. */
  private static void finishInterruptedCommits() {
    try {
      BatchlogManager.instance.forceBatchlogReplay();
    } catch (Exception e) {
      logger.warn("The batch log could not be replayed yet; Cassandra tries again.", e);
    }
  }

  /**
   * Returns when the tables have all of a snapshot that this node has been given.
   *
   * @throws IsoldeException UNAVAILABLE, if a commit to them is not applied in time
   */
  public void awaitApplied(Collection<TableMetadata> tables, long snapshot) {
    if (inDoubt.isPossible()) {
      ReadSet all = ReadSet.ofAll(tables);
      var unused = inDoubt.await(all.ids(), snapshot, all::find, null);
    }
  }

  public Transactions transactions() {
    return transactions;
  }

  public DataStatements data() {
    return data;
  }

  public TableMode mode() {
    return mode;
  }
}
