// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

import io.isolde.group.HandOverPolicy;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * The settings of a node. Immutable, checked when it is made; every default is safe.
 *
 * <p>Each setting is documented here and in {@code docs/operating.md}: its default, and what breaks
 * when it is too small or too big.
 *
 * @param versionStoreBytes {@code version_store_size}: memory for replaced cells. Default: an
 *     eighth of the heap, at least 64MiB. Too small: readers of a busy table get SNAPSHOT_TOO_OLD
 *     early. Too big: less heap for Cassandra.
 * @param versionRetentionMicros {@code version_retention}: how far back AS OF can read although no
 *     transaction needs it. Default 10s. Too small: AS OF of the near past fails. Too big: old
 *     versions fill their store, which then gives up the oldest.
 * @param replacedSSTablesBytes {@code replaced_sstables_size}, per table: disk space for SSTables
 *     that a compaction has replaced and readers of the past may need. Default 10GiB. Too small: a
 *     large compaction ends the snapshots of open transactions. Too big: the disk may fill while a
 *     transaction stays open.
 * @param maxOpenTransactions {@code max_open_transactions}. Default 10000. Too small: clients get
 *     TOO_MANY_TRANSACTIONS under load. Too big: abandoned transactions take memory until they idle
 *     out.
 * @param maxAgeMillis {@code transaction_max_age}: after this a transaction is ended, whatever it
 *     does. Default 5m. Too small: long exports fail. Too big: one forgotten busy reader holds old
 *     versions for as long.
 * @param maxIdleMillis {@code transaction_max_idle}: after this without a statement a transaction
 *     is ended. Default 60s. Too small: a client that thinks loses its transaction. Too big:
 *     abandoned transactions hold old versions for as long.
 * @param maxWriteBytes {@code transaction_max_write_size}: of the buffered writes of one
 *     transaction. Default 4MiB, at most 5MiB: a commit is in one entry of the oracle's log. Too
 *     small: TRANSACTION_TOO_LARGE for ordinary batches. Too big: large commits hold up all others,
 *     and Cassandra's commit log may refuse them.
 * @param maxReads {@code transaction_max_reads}: rows and ranges that a serializable transaction
 *     may have read. Default 100000. Too small: TRANSACTION_TOO_LARGE for large readers (READ ONLY
 *     ones are not counted). Too big: memory, and a slow commit.
 * @param commitTimeoutMillis {@code commit_timeout}: how long COMMIT waits until the commit is
 *     applied and visible. Default 10s. Too small: APPLY_PENDING under load. Too big: clients give
 *     up first and have to ask for the outcome.
 * @param oracleMaxRows {@code oracle_max_rows}: last commit timestamps that the oracle keeps.
 *     Default 1000000 (34 MB; a write takes three), less on heaps below 2 GiB. Too small: long
 *     transactions abort as CONFLICT_FORGOTTEN. Too big: memory.
 * @param oracleMaxPending {@code oracle_max_pending_commits}: decided, not yet applied. Default
 *     10000. Too small: ORACLE_OVERLOADED in bursts. Too big: memory.
 * @param oracleMaxOutcomes {@code oracle_max_outcomes}: how many outcomes are kept for clients that
 *     lost the answer. Default 250000, less on heaps below 2 GiB. Too small: an outcome may be
 *     forgotten before it is asked for. Too big: memory.
 * @param oracleOutcomeRetentionMicros {@code oracle_outcome_retention}: how long. Default 24h.
 * @param oracleMembers {@code oracle_members}: addresses of the nodes that found the group, the
 *     same on all nodes. Default: the seeds, the first 1, 3 or 5 of them in order of their
 *     addresses. Counts only until the group is founded. Too few: the oracle is down with a node.
 *     Too many: each commit waits for more disks.
 * @param oraclePort {@code oracle_port}: TCP, the same on all nodes. Default 7311, outside of the
 *     range that systems take client ports from.
 * @param oracleDirectory {@code oracle_directory}: of the group's log, from the folder in which the
 *     commit log's is. Default: {@code isolde-oracle}. A disk shared with data makes commits wait
 *     for flushes.
 * @param isOracleLogSynced {@code oracle_log_sync}: {@code always} (the default) has each decision
 *     on the disks of a majority before it is told; {@code os} leaves that to the operating system,
 *     so that a power failure of a majority can lose decisions.
 * @param coordinatorLeaseMillis {@code coordinator_lease}: how long a node may be silent before it
 *     may decide nothing any more. Default 2s. Too small: a long garbage collection costs a node
 *     its transactions. Too big: what a dead node left is finished late, and its rows are in doubt
 *     until then.
 * @param oracleTimeoutMillis {@code oracle_timeout}: how long a request rides through changes of
 *     leaders. Default 5s. Too small: errors while a cut-off leader is replaced (2 s). Too big:
 *     clients wait where they would rather be told.
 * @param strongPort {@code strong_port}: TCP, the same on all nodes; the next one too, for
 *     keyspaces with the durability 'periodic'. Default 7312.
 * @param strongDirectory {@code strong_directory}: of the logs of strong keyspaces, from the folder
 *     in which the commit log's is. Default: {@code isolde-groups}. A disk shared with data makes
 *     writes wait for flushes.
 * @param strongLogBytes {@code strong_log_size}: of each replica group's log. Beyond it memtables
 *     are flushed and the log goes. Default 256MiB. Too small: many flushes, and members that were
 *     away copy tables instead of the log. Too big: a long replay at the start.
 * @param strongTimeoutMillis {@code strong_timeout}: how long a request rides through changes of
 *     leaders. Default 5s. Too small: errors while a cut-off leader is replaced (2 s). Too big:
 *     clients wait where they would rather be told.
 * @param isStrongReadLeased {@code strong_reads}: {@code lease} (the default): leaders answer reads
 *     while clocks say that nobody else can lead, which needs clocks that run about equally fast;
 *     {@code read_index}: they ask a majority each time.
 * @param isLeadershipCompactionAware {@code leadership_policy}: whom a leader of a replica group
 *     hands over to before a heavy compaction of its tables: {@code least-loaded}, {@code random},
 *     {@code round-robin}; {@code off} (the default): nobody, and Cassandra schedules compactions
 *     as it does.
 * @param leadership {@code leadership_threshold}: compactions of fewer bytes are run while leading.
 *     Default 64MiB. Too small: leaders change all the time. Too big: leaders compact. {@code
 *     leadership_rest}: a group is not handed over again for so long. Default 10s. {@code
 *     leadership_max_per_minute}: of this node. Default 6. {@code leadership_wait}: so long at most
 *     does a heavy compaction wait while other members of this node's groups compact. Default 60s.
 *     Too small: replicas compact at the same time. Too big: SSTables pile up where all have much
 *     to compact. {@code leadership_dry_run}: {@code false} (the default), or {@code true}:
 *     decisions are only noted in {@code isolde.leadership_events}.
 * @param conflictLogSize {@code conflict_log_size}: of the last conflicts, shown in {@code
 *     isolde.conflicts}. Default 1000. Too small: those that one is asked about are gone. Too big:
 *     memory, half a kilobyte each.
 * @param timestampReservationMicros {@code timestamp_reservation}: how far ahead timestamps are
 *     reserved on disk. Default 2s. Too small: a disk sync often. Too big: after a restart or a
 *     change of leaders, timestamps run ahead of the wall clock for as long, and TTLs with them.
 * @param maxTimestampLeadMicros {@code max_timestamp_lead}: how far in the future the data of a
 *     table may lie that becomes transactional; new timestamps start above it. Default 60s. Too
 *     small: tables written by a client with a fast clock are refused. Too big: timestamps run
 *     ahead of the wall clock.
 * @param snapshotTimeoutMillis {@code snapshot_timeout}: how long a node may take to bring the
 *     content of a snapshot into its tables. Default 10m. Too small: snapshots of large tables that
 *     change a lot fail. Too big: it takes as long to hear that a node is stuck.
 * @param snapshotGateMillis {@code snapshot_gate_limit}: how long writes may wait for a snapshot
 *     {@code WITH gate = true}. Default 2s. Too small: such snapshots fail on a busy cluster. Too
 *     big: writes time out behind a creator that is gone.
 * @param snapshotMaxOverlap {@code snapshot_max_overlap}: how many SSTables of a snapshot may
 *     overlap before they are merged, once. Default 8. Too small: disk space and work for snapshots
 *     that are little read. Too big: slow reads of those.
 * @param stalenessSampleOneIn {@code staleness_sample_one_in}: of so many messages one is timed, to
 *     predict staleness. A power of two; 0 for none. Default 64. Too small: processor time and
 *     larger answers. Too big: wide intervals, or no prediction at all for quiet tables.
 * @param stalenessHalfLifeMillis {@code staleness_half_life}: after it a delay counts half. Default
 *     5m. Too small: few delays count, so intervals are wide. Too big: predictions lag behind.
 * @param stalenessMaxTables {@code staleness_max_tables}: that delays are kept for, those first
 *     that are used first. Default 50; up to 100 KB for each and each rack. Too small: other tables
 *     aren't predicted.
 */
public record IsoldeConfig(
    long versionStoreBytes,
    long versionRetentionMicros,
    long replacedSSTablesBytes,
    int maxOpenTransactions,
    long maxAgeMillis,
    long maxIdleMillis,
    long maxWriteBytes,
    int maxReads,
    long commitTimeoutMillis,
    int oracleMaxRows,
    int oracleMaxPending,
    int oracleMaxOutcomes,
    long oracleOutcomeRetentionMicros,
    List<String> oracleMembers,
    int oraclePort,
    String oracleDirectory,
    boolean isOracleLogSynced,
    long coordinatorLeaseMillis,
    long oracleTimeoutMillis,
    int strongPort,
    String strongDirectory,
    long strongLogBytes,
    long strongTimeoutMillis,
    boolean isStrongReadLeased,
    boolean isLeadershipCompactionAware,
    HandOverPolicy.Rules leadership,
    int conflictLogSize,
    long timestampReservationMicros,
    long maxTimestampLeadMicros,
    long snapshotTimeoutMillis,
    long snapshotGateMillis,
    int snapshotMaxOverlap,
    int stalenessSampleOneIn,
    long stalenessHalfLifeMillis,
    int stalenessMaxTables) {

  private static final int MAX_CONFLICTS = 1_000_000;
  private static final int MAX_TABLES = 10_000;
  private static final long MIB = 1L << 20;

  private static final class Holder {
    static final IsoldeConfig OF_THIS_NODE = IsoldeYaml.load(System.getProperty("isolde.config"));
  }

  public IsoldeConfig {
    require(
        versionStoreBytes >= MIB,
        "version_store_size must be at least 1MiB, or no transaction could read under load.");
    require(versionRetentionMicros >= 0, "version_retention must not be negative.");
    require(replacedSSTablesBytes >= 0, "replaced_sstables_size must not be negative.");
    require(maxOpenTransactions >= 1, "max_open_transactions must be at least 1.");
    require(maxAgeMillis >= 1000, "transaction_max_age must be at least 1s.");
    require(maxIdleMillis >= 100, "transaction_max_idle must be at least 100ms.");
    require(
        maxIdleMillis <= maxAgeMillis,
        "transaction_max_idle must not be longer than transaction_max_age.");
    require(maxWriteBytes >= 1024, "transaction_max_write_size must be at least 1KiB.");
    require(
        maxWriteBytes <= 5 * MIB,
        "transaction_max_write_size must be at most 5MiB: a commit is in one entry of the oracle's"
            + " log.");
    require(maxReads >= 1, "transaction_max_reads must be at least 1.");
    require(commitTimeoutMillis >= 100, "commit_timeout must be at least 100ms.");
    require(oracleMaxRows >= 1024, "oracle_max_rows must be at least 1024.");
    require(oracleMaxPending >= 1, "oracle_max_pending_commits must be at least 1.");
    require(oracleMaxOutcomes >= 1, "oracle_max_outcomes must be at least 1.");
    require(
        oracleOutcomeRetentionMicros >= TimeUnit.SECONDS.toMicros(1),
        "oracle_outcome_retention must be at least 1s.");
    oracleMembers = List.copyOf(oracleMembers);
    require(
        oracleMembers.stream().allMatch(IsoldeConfig::isAddress),
        "oracle_members must be addresses, like 10.0.0.1, 10.0.0.2, 10.0.0.3.");
    require(
        Set.copyOf(oracleMembers).size() == oracleMembers.size(),
        "oracle_members must not name a node twice.");
    require(!oracleDirectory.isBlank(), "oracle_directory must name a directory.");
    require(oraclePort >= 1 && oraclePort <= 65_535, "oracle_port must be a TCP port.");
    require(coordinatorLeaseMillis >= 500, "coordinator_lease must be at least 500ms.");
    require(oracleTimeoutMillis >= 100, "oracle_timeout must be at least 100ms.");
    require(strongPort >= 1 && strongPort < 65_535, "strong_port and the next must be TCP ports.");
    require(
        oraclePort != strongPort && oraclePort != strongPort + 1,
        "strong_port and the next must not be the oracle_port.");
    require(!strongDirectory.isBlank(), "strong_directory must name a directory.");
    require(strongLogBytes >= MIB, "strong_log_size must be at least 1MiB.");
    require(leadership.thresholdBytes() >= 1, "leadership_threshold must be at least 1B.");
    require(leadership.mostPerMinute() >= 1, "leadership_max_per_minute must be at least 1.");
    require(strongTimeoutMillis >= 100, "strong_timeout must be at least 100ms.");
    require(
        conflictLogSize >= 1 && conflictLogSize <= MAX_CONFLICTS,
        "conflict_log_size must be between 1 and 1000000.");
    require(
        timestampReservationMicros >= TimeUnit.MILLISECONDS.toMicros(100),
        "timestamp_reservation must be at least 100ms.");
    require(maxTimestampLeadMicros >= 0, "max_timestamp_lead must not be negative.");
    require(snapshotTimeoutMillis >= 1000, "snapshot_timeout must be at least 1s.");
    require(
        snapshotGateMillis >= 100 && snapshotGateMillis <= 10_000,
        "snapshot_gate_limit must be between 100ms and 10s.");
    require(snapshotMaxOverlap >= 1, "snapshot_max_overlap must be at least 1.");
    require(
        stalenessSampleOneIn == 0 || Integer.bitCount(stalenessSampleOneIn) == 1,
        "staleness_sample_one_in must be a power of two, or 0 for none.");
    require(stalenessHalfLifeMillis >= 1000, "staleness_half_life must be at least 1s.");
    require(
        stalenessMaxTables >= 1 && stalenessMaxTables <= MAX_TABLES,
        "staleness_max_tables must be between 1 and 10000.");
  }

  private static boolean isAddress(String member) {
    return member.matches("[0-9A-Za-z.:%_-]+");
  }

  private static void require(boolean holds, String sentence) {
    if (!holds) {
      throw new ConfigurationException(sentence);
    }
  }

  /**
   * The settings in the file that the system property {@code isolde.config} names; the defaults if
   * there is no such property.
   *
   * @throws ConfigurationException if the file can't be read, or a value is refused
   */
  public static IsoldeConfig ofThisNode() {
    return Holder.OF_THIS_NODE;
  }

  /** Says in a full sentence which setting is refused and why. */
  public static final class ConfigurationException extends RuntimeException {
    public ConfigurationException(String sentence) {
      super("isolde.yaml: " + sentence);
    }
  }
}
