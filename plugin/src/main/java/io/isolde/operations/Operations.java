// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.config.IsoldeConfig;
import io.isolde.staleness.collect.DelayBook;
import io.isolde.staleness.collect.MessageTap;
import io.isolde.transaction.TransactionListener;
import java.util.List;
import org.apache.cassandra.db.virtual.VirtualKeyspace;
import org.apache.cassandra.db.virtual.VirtualKeyspaceRegistry;

/** Shows operators what this node does. */
public final class Operations {
  private final IsoldeConfig config;
  private final TransactionWatch transactions;

  public Operations(IsoldeConfig config) {
    this.config = config;
    this.transactions = new TransactionWatch(config.transactions().conflictLogSize());
  }

  /** Is to hear of this node's transactions. */
  public TransactionListener listener() {
    return transactions;
  }

  /** Makes the virtual tables and the metrics; once for a process. */
  public void show(NodeParts parts) {
    OracleWatch oracle = new OracleWatch(parts);
    oracle.start();
    new Gauges(parts, oracle).register();
    ConfigurationLook configuration = new ConfigurationLook(parts);
    DelayBook delays = MessageTap.start(config.staleness());
    VirtualKeyspaceRegistry.instance.register(
        new VirtualKeyspace(
            NodeTable.KEYSPACE,
            List.of(
                new OracleTable(oracle),
                new SessionsTable(parts, oracle),
                new ConflictsTable(transactions),
                new TransactionsTable(parts),
                new OutcomesTable(parts),
                new OrphansTable(parts),
                new RowLocksTable(parts),
                new PushSessionsTable(parts),
                new PushNodesTable(parts),
                new ReplicaGroupsTable(parts.strongKeyspaces()),
                new GroupReplicasTable(parts.strongKeyspaces()),
                new LeadershipEventsTable(parts.strongKeyspaces().leadership().events()),
                new RingTable(configuration),
                new GroupsTable(configuration),
                new ConfigurationHistoryTable(configuration),
                new SnapshotsTable(parts),
                new StalenessTable(delays),
                new FollowerStalenessTable(parts.strongKeyspaces()),
                new DelaysTable(delays))));
  }
}
