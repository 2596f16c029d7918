// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Of the oracle's group, of this node's member of it, and of the coordinator that asks it.
 *
 * @param maxRows {@code oracle_max_rows}: last commit timestamps that the oracle keeps. Default
 *     1000000 (34 MB; a write takes three), less on heaps below 2 GiB. Too small: long transactions
 *     abort as CONFLICT_FORGOTTEN. Too big: memory.
 * @param maxPendingCommits {@code oracle_max_pending_commits}: decided, not yet applied. Default
 *     10000. Too small: ORACLE_OVERLOADED in bursts. Too big: memory.
 * @param maxOutcomes {@code oracle_max_outcomes}: how many outcomes are kept for clients that lost
 *     the answer. Default 250000, less on heaps below 2 GiB. Too small: an outcome may be forgotten
 *     before it is asked for. Too big: memory.
 * @param outcomeRetentionMicros {@code oracle_outcome_retention}: how long. Default 24h.
 * @param members {@code oracle_members}: addresses of the nodes that found the group, the same on
 *     all nodes. Default: the seeds, the first 1, 3 or 5 of them in order of their addresses.
 *     Counts only until the group is founded. Too few: the oracle is down with a node. Too many:
 *     each commit waits for more disks.
 * @param port {@code oracle_port}: TCP, the same on all nodes. Default 7311, outside of the range
 *     that systems take client ports from.
 * @param directory {@code oracle_directory}: of the group's log, from the folder in which the
 *     commit log's is. Default: {@code isolde-oracle}. A disk shared with data makes commits wait
 *     for flushes.
 * @param isLogSynced {@code oracle_log_sync}: {@code always} (the default) has each decision on the
 *     disks of a majority before it is answered; {@code os} leaves that to the operating system, so
 *     that a power failure of a majority can lose decisions.
 * @param coordinatorLeaseMillis {@code coordinator_lease}: how long a node may be silent before it
 *     may decide nothing any more. Default 2s. Too small: a long garbage collection costs a node
 *     its transactions. Too big: what a dead node left is finished late, and its rows are in doubt
 *     until then.
 * @param timeoutMillis {@code oracle_timeout}: how long a request rides through changes of leaders.
 *     Default 5s. Too small: errors while a cut-off leader is replaced (2 s). Too big: clients wait
 *     longer for an error.
 * @param timestampReservationMicros {@code timestamp_reservation}: how far ahead timestamps are
 *     reserved on disk. Default 2s. Too small: a disk sync often. Too big: after a restart or a
 *     change of leaders, timestamps run ahead of the wall clock for as long, and TTLs with them.
 */
public record OracleSettings(
    int maxRows,
    int maxPendingCommits,
    int maxOutcomes,
    long outcomeRetentionMicros,
    List<String> members,
    int port,
    String directory,
    boolean isLogSynced,
    long coordinatorLeaseMillis,
    long timeoutMillis,
    long timestampReservationMicros) {
  public OracleSettings {
    members = List.copyOf(members);
    IsoldeConfig.require(maxRows >= 1024, "oracle_max_rows must be at least 1024.");
    IsoldeConfig.require(maxPendingCommits >= 1, "oracle_max_pending_commits must be at least 1.");
    IsoldeConfig.require(maxOutcomes >= 1, "oracle_max_outcomes must be at least 1.");
    IsoldeConfig.require(
        outcomeRetentionMicros >= TimeUnit.SECONDS.toMicros(1),
        "oracle_outcome_retention must be at least 1s.");
    IsoldeConfig.require(
        members.stream().allMatch(OracleSettings::isAddress),
        "oracle_members must be addresses, like 10.0.0.1, 10.0.0.2, 10.0.0.3.");
    IsoldeConfig.require(
        Set.copyOf(members).size() == members.size(), "oracle_members must not name a node twice.");
    IsoldeConfig.require(!directory.isBlank(), "oracle_directory must name a directory.");
    IsoldeConfig.require(port >= 1 && port <= 65_535, "oracle_port must be a TCP port.");
    IsoldeConfig.require(
        coordinatorLeaseMillis >= 500, "coordinator_lease must be at least 500ms.");
    IsoldeConfig.require(timeoutMillis >= 100, "oracle_timeout must be at least 100ms.");
    IsoldeConfig.require(
        timestampReservationMicros >= TimeUnit.MILLISECONDS.toMicros(100),
        "timestamp_reservation must be at least 100ms.");
  }

  private static boolean isAddress(String member) {
    return member.matches("[0-9A-Za-z.:%_-]+");
  }

  static OracleSettings of(IsoldeYaml file, HeapBudget heap) {
    return new OracleSettings(
        file.count("oracle_max_rows", heap.oracleRows()),
        file.count("oracle_max_pending_commits", 10_000),
        file.count("oracle_max_outcomes", heap.oracleOutcomes()),
        file.micros("oracle_outcome_retention", "24h"),
        file.list("oracle_members"),
        file.count("oracle_port", 7311),
        file.text("oracle_directory", "isolde-oracle"),
        file.choice("oracle_log_sync", "always", "os"),
        file.millis("coordinator_lease", "2s"),
        file.millis("oracle_timeout", "5s"),
        file.micros("timestamp_reservation", "2s"));
  }
}
