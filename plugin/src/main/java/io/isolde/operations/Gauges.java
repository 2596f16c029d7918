// SPDX-License-Identifier: Apache-2.0
package io.isolde.operations;

import io.isolde.group.ReplicaGroup;
import io.isolde.group.ReplicaStatus;
import io.isolde.oracle.group.Changes;
import io.isolde.oracle.group.CoordinatorSession;
import io.isolde.oracle.group.OracleClient;
import io.isolde.oracle.group.OracleStatus;
import io.isolde.replicated.OracleHost;
import io.isolde.transaction.ClientTimestamps;
import io.isolde.version.NodeVersions;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** The metrics that are asked for, not counted. Those of members are 0 on nodes that are none. */
final class Gauges {
  private final NodeParts parts;
  private final OracleWatch watch;

  Gauges(NodeParts parts, OracleWatch watch) {
    this.parts = parts;
    this.watch = watch;
  }

  void register() {
    IsoldeMetric.OPEN.gauge(
        () ->
            parts
                .startedCoordinator()
                .map(coordinator -> (long) coordinator.transactions().open().size())
                .orElse(0L));
    IsoldeMetric.UNANSWERED.gauge(parts::unanswered);
    IsoldeMetric.TIMESTAMPS_IGNORED.gauge(ClientTimestamps::ignored);
    member(IsoldeMetric.IS_MEMBER, status -> 1);
    member(IsoldeMetric.TERM, OracleStatus::term);
    member(IsoldeMetric.PENDING_COMMITS, OracleStatus::pendingCommits);
    member(IsoldeMetric.IN_DOUBT_COMMITS, OracleStatus::inDoubtCommits);
    member(IsoldeMetric.QUEUED, OracleStatus::queued);
    member(IsoldeMetric.OVERLOADS, OracleStatus::overloads);
    host(IsoldeMetric.IS_LEADER, host -> host.node().isServing() ? 1 : 0);
    host(IsoldeMetric.HAS_PROBLEM, host -> host.node().problem().isPresent() ? 1 : 0);
    host(IsoldeMetric.ORPHANED_COMMITS, host -> host.node().orphans().size());
    changes(IsoldeMetric.WATCHES_WAITING, Changes::waiting);
    changes(IsoldeMetric.CHANGES_NOTIFIED, Changes::notified);
    changes(IsoldeMetric.CHANGES_LOST, Changes::lost);
    changes(IsoldeMetric.CHANGES_BYTES, Changes::bytes);
    IsoldeMetric.PUSH_CONNECTIONS.gauge(() -> (long) parts.push().connections());
    IsoldeMetric.PUSH_WATCHERS.gauge(() -> (long) parts.push().watchers());
    IsoldeMetric.PUSH_LOST.gauge(() -> parts.push().lost());
    IsoldeMetric.PUSH_MOVES.gauge(() -> parts.push().moves());
    IsoldeMetric.ROW_LOCK_WAITS.gauge(() -> parts.rowLocks().waits());
    IsoldeMetric.ROW_LOCK_WAITED.gauge(() -> parts.rowLocks().waitedMillis());
    IsoldeMetric.ROW_LOCK_REFUSALS.gauge(() -> parts.rowLocks().refusals());
    session(IsoldeMetric.HAS_SESSION, session -> session.isOpen() ? 1 : 0);
    session(IsoldeMetric.FENCED, CoordinatorSession::fencings);
    client(IsoldeMetric.OUTSTANDING, OracleClient::outstanding);
    groups(IsoldeMetric.REPLICA_GROUPS, group -> 1);
    groups(IsoldeMetric.GROUPS_LED, group -> group.isLeader() ? 1 : 0);
    groups(IsoldeMetric.GROUPS_WITHOUT_LEADER, group -> group.leader().isPresent() ? 0 : 1);
    groups(
        IsoldeMetric.GROUPS_COPYING, group -> group.role() == ReplicaStatus.Role.COPYING ? 1 : 0);
    groups(IsoldeMetric.GROUP_QUEUED, ReplicaGroup::queued);
    groups(IsoldeMetric.GROUP_LAG, ReplicaGroup::lagEntries);
    IsoldeMetric.GROUPS_FAILED.gauge(
        () ->
            parts.strongKeyspaces().show().stream()
                .filter(group -> group.problem().isPresent())
                .count());
    IsoldeMetric.STABLE_LAG.gauge(watch::stableLagMillis);
    IsoldeMetric.IS_RECOVERING.gauge(() -> parts.restart().isRecovering() ? 1L : 0L);
    IsoldeMetric.COMMITS_AGAIN.gauge(() -> parts.restart().commitsAgain());
    IsoldeMetric.IS_INCOMPLETE.gauge(() -> parts.restart().isIncomplete() ? 1L : 0L);
    versions(IsoldeMetric.VERSION_BYTES, NodeVersions::bytes);
    versions(IsoldeMetric.VERSION_MAX_BYTES, NodeVersions::maxBytes);
    versions(IsoldeMetric.VERSION_COUNT, NodeVersions::versionCount);
    versions(IsoldeMetric.VERSION_EVICTED_NEEDED, NodeVersions::evictedNeeded);
  }

  /** A sum over this node's replicas. */
  private void groups(IsoldeMetric metric, ToLongFunction<ReplicaGroup> figure) {
    metric.gauge(
        () ->
            parts.strongKeyspaces().show().stream()
                .flatMap(group -> group.replica().stream())
                .mapToLong(figure)
                .sum());
  }

  private void member(IsoldeMetric metric, ToLongFunction<OracleStatus> figure) {
    metric.gauge(() -> watch.recent().map(figure::applyAsLong).orElse(0L));
  }

  private void host(IsoldeMetric metric, ToLongFunction<OracleHost> figure) {
    metric.gauge(() -> parts.oracleHost().map(figure::applyAsLong).orElse(0L));
  }

  private void changes(IsoldeMetric metric, ToLongFunction<Changes> figure) {
    metric.gauge(
        () ->
            parts.strongKeyspaces().sumOfChanges(figure)
                + parts
                    .oracleHost()
                    .flatMap(host -> host.node().changes())
                    .map(figure::applyAsLong)
                    .orElse(0L));
  }

  private void session(IsoldeMetric metric, ToLongFunction<CoordinatorSession> figure) {
    host(metric, host -> figure.applyAsLong(host.session()));
  }

  private void client(IsoldeMetric metric, Function<OracleClient, Integer> figure) {
    host(metric, host -> figure.apply(host.client()));
  }

  private static void versions(IsoldeMetric metric, ToLongFunction<NodeVersions> figure) {
    metric.gauge(() -> figure.applyAsLong(NodeVersions.ofThisNode()));
  }
}
