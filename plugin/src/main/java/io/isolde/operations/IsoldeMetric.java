// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import static org.apache.cassandra.metrics.CassandraMetricsRegistry.Metrics;

import com.codahale.metrics.Counter;
import com.codahale.metrics.Gauge;
import com.codahale.metrics.Timer;
import java.util.function.Supplier;
import org.apache.cassandra.metrics.CassandraMetricsRegistry.MetricName;
import org.apache.cassandra.metrics.DefaultNameFactory;

/**
 * Isolde's metrics, beside Cassandra's own: in JMX as {@code
 * org.apache.cassandra.metrics:type=IsoldeOracle,name=Term}. The names are stable.
 */
enum IsoldeMetric {
  BEGUN(Type.TRANSACTIONS, "Begun"),
  COMMITTED(Type.TRANSACTIONS, "Committed"),
  APPLIED_BY_LEADER(Type.TRANSACTIONS, "AppliedByLeader"),
  APPLY_PENDING(Type.TRANSACTIONS, "ApplyPending"),
  IN_DOUBT(Type.TRANSACTIONS, "InDoubt"),
  ROLLED_BACK(Type.TRANSACTIONS, "RolledBack"),
  EXPIRED(Type.TRANSACTIONS, "Expired"),
  ABORTED_READ_WRITE(Type.TRANSACTIONS, "AbortedReadWrite"),
  ABORTED_WRITE_WRITE(Type.TRANSACTIONS, "AbortedWriteWrite"),
  ABORTED_FORGOTTEN(Type.TRANSACTIONS, "AbortedForgotten"),
  ABORTED_REQUESTED(Type.TRANSACTIONS, "AbortedRequested"),
  DECIDED_AGAIN(Type.TRANSACTIONS, "DecidedAgain"),
  BEGIN_LATENCY(Type.TRANSACTIONS, "BeginLatency"),
  COMMIT_LATENCY(Type.TRANSACTIONS, "CommitLatency"),
  APPLY_LATENCY(Type.TRANSACTIONS, "ApplyLatency"),
  STABLE_WAIT(Type.TRANSACTIONS, "StableWait"),
  OPEN(Type.TRANSACTIONS, "Open"),
  UNANSWERED(Type.TRANSACTIONS, "Unanswered"),
  TIMESTAMPS_IGNORED(Type.TRANSACTIONS, "ClientTimestampsIgnored"),

  IS_MEMBER(Type.ORACLE, "IsMember"),
  HAS_PROBLEM(Type.ORACLE, "HasProblem"),
  IS_LEADER(Type.ORACLE, "IsLeader"),
  TERM(Type.ORACLE, "Term"),
  PENDING_COMMITS(Type.ORACLE, "PendingCommits"),
  IN_DOUBT_COMMITS(Type.ORACLE, "InDoubtCommits"),
  ORPHANED_COMMITS(Type.ORACLE, "OrphanedCommits"),
  QUEUED(Type.ORACLE, "Queued"),
  OVERLOADS(Type.ORACLE, "Overloads"),
  STABLE_LAG(Type.ORACLE, "StableLagMillis"),
  HAS_SESSION(Type.ORACLE, "HasSession"),
  FENCED(Type.ORACLE, "Fenced"),
  OUTSTANDING(Type.ORACLE, "Outstanding"),

  REPLICA_GROUPS(Type.GROUPS, "Replicas"),
  GROUPS_LED(Type.GROUPS, "Led"),
  GROUPS_WITHOUT_LEADER(Type.GROUPS, "WithoutLeader"),
  GROUPS_COPYING(Type.GROUPS, "Copying"),
  GROUPS_FAILED(Type.GROUPS, "Failed"),
  GROUP_QUEUED(Type.GROUPS, "QueuedWrites"),
  GROUP_LAG(Type.GROUPS, "LagEntries"),

  WATCHES_WAITING(Type.WATCHES, "Waiting"),
  CHANGES_NOTIFIED(Type.WATCHES, "Notified"),
  CHANGES_LOST(Type.WATCHES, "Lost"),
  CHANGES_BYTES(Type.WATCHES, "Bytes"),

  PUSH_CONNECTIONS(Type.PUSH, "Connections"),
  PUSH_WATCHERS(Type.PUSH, "Watchers"),
  PUSH_LOST(Type.PUSH, "LostPushes"),
  PUSH_MOVES(Type.PUSH, "Moves"),

  ROW_LOCK_WAITS(Type.ROW_LOCKS, "Waits"),
  ROW_LOCK_WAITED(Type.ROW_LOCKS, "WaitedMillis"),
  ROW_LOCK_REFUSALS(Type.ROW_LOCKS, "Refusals"),

  IS_RECOVERING(Type.RESTART, "IsRecovering"),
  COMMITS_AGAIN(Type.RESTART, "CommitsAppliedAgain"),
  IS_INCOMPLETE(Type.RESTART, "IsIncomplete"),

  VERSION_BYTES(Type.VERSIONS, "Bytes"),
  VERSION_MAX_BYTES(Type.VERSIONS, "MaxBytes"),
  VERSION_COUNT(Type.VERSIONS, "Count"),
  VERSION_EVICTED_NEEDED(Type.VERSIONS, "EvictedNeeded");

  /** The values of type= in JMX. */
  private static final class Type {
    static final String TRANSACTIONS = "IsoldeTransactions";
    static final String ORACLE = "IsoldeOracle";
    static final String GROUPS = "IsoldeReplicaGroups";
    static final String WATCHES = "IsoldeWatches";
    static final String PUSH = "IsoldePush";
    static final String ROW_LOCKS = "IsoldeRowLocks";
    static final String RESTART = "IsoldeRestart";
    static final String VERSIONS = "IsoldeVersions";
  }

  private final String type;
  private final String title;

  IsoldeMetric(String type, String title) {
    this.type = type;
    this.title = title;
  }

  String type() {
    return type;
  }

  String title() {
    return title;
  }

  private MetricName registered() {
    return new DefaultNameFactory(type).createMetricName(title);
  }

  Counter counter() {
    return Metrics.counter(registered());
  }

  Timer timer() {
    return Metrics.timer(registered());
  }

  void gauge(Supplier<Long> value) {
    Metrics.register(registered(), (Gauge<Long>) value::get);
  }
}
