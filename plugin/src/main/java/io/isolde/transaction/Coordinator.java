// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.apply.MutationApplier;
import io.isolde.apply.OutboundQueues;
import io.isolde.apply.StrongTables;
import io.isolde.config.TransactionSettings;
import io.isolde.conflict.ReadSet;
import io.isolde.error.IsoldeException;
import io.isolde.replicated.Oracle;
import io.isolde.rowlock.RowLocks;
import io.isolde.transaction.barrier.ClusterBarrier;
import io.isolde.version.NodeVersions;
import io.isolde.version.VersionClock;
import java.util.Collection;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.concurrent.ScheduledExecutors;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.schema.TableMetadata;

/** All that a node needs to coordinate transactions for its clients. */
public final class Coordinator {
  private static final long EXPIRE_INTERVAL_MILLIS = 200;

  private final Transactions transactions;
  private final DataStatements data;
  private final ReadingWrites reading;
  private final WholeTransactions whole;
  private final TableMode mode;
  private final UniqueIndexes uniqueIndexes;
  private final InDoubt inDoubt;

  private Coordinator(
      TransactionSettings settings,
      ClusterBarrier barrier,
      StrongTables strong,
      Oracle oracle,
      OutboundQueues queues,
      RowLocks locks,
      TransactionListener listener) {
    MutationApplier applier = new MutationApplier(strong, queues);
    this.inDoubt =
        new InDoubt(
            oracle,
            applier::later,
            () -> DatabaseDescriptor.getReadRpcTimeout(TimeUnit.MILLISECONDS),
            listener);
    CommitMemory memory = CommitMemory.ofThisNode();
    Committer committer = new Committer(oracle, applier, inDoubt, memory, settings, listener);
    this.transactions =
        new Transactions(
            settings,
            oracle,
            committer,
            memory,
            locks,
            () -> System.nanoTime() / 1_000_000,
            listener);
    this.data =
        new DataStatements(oracle, committer, inDoubt, strong, new LockingReads(oracle, locks));
    Attempts attempts = new Attempts(oracle, listener);
    HotPartitions hot = new HotPartitions(locks);
    this.reading = new ReadingWrites(attempts, committer, inDoubt, strong, hot);
    this.whole = new WholeTransactions(settings, attempts, committer, memory, hot, listener);
    this.uniqueIndexes = new UniqueIndexes(oracle, barrier, data, reading);
    this.mode = new TableMode(oracle, inDoubt, barrier, strong, settings.maxTimestampLeadMicros());
  }

  /**
   * Starts coordinating.
   *
   * @param barrier that the statements of all clients of all nodes pass
   * @param strong the tables of strong keyspaces
   * @param queues to the other replicas
   * @param locks of rows, for transactions that wait for them
   * @param clock what the version store is to know of the oracle's time
   * @param listener hears what becomes of the transactions
   */
  public static Coordinator start(
      TransactionSettings settings,
      ClusterBarrier barrier,
      StrongTables strong,
      Oracle oracle,
      OutboundQueues queues,
      RowLocks locks,
      VersionClock clock,
      TransactionListener listener) {
    Coordinator coordinator =
        new Coordinator(settings, barrier, strong, oracle, queues, locks, listener);
    coordinator.mode.passExistingTimestamps();
    NodeVersions.ofThisNode().useClock(clock, oracle.next());
    var unused =
        ScheduledExecutors.optionalTasks.scheduleWithFixedDelay(
            coordinator.transactions::expire,
            EXPIRE_INTERVAL_MILLIS,
            EXPIRE_INTERVAL_MILLIS,
            TimeUnit.MILLISECONDS);
    return coordinator;
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

  public ReadingWrites reading() {
    return reading;
  }

  public WholeTransactions whole() {
    return whole;
  }

  public TableMode mode() {
    return mode;
  }

  public UniqueIndexes uniqueIndexes() {
    return uniqueIndexes;
  }
}
