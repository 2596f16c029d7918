// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

import io.isolde.group.HandOverPolicy;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Of strong keyspaces.
 *
 * @param port {@code strong_port}: TCP, the same on all nodes; the next one too, for keyspaces with
 *     the durability 'periodic'. Default 7312.
 * @param directory {@code strong_directory}: of the logs of strong keyspaces, from the folder in
 *     which the commit log's is. Default: {@code isolde-groups}. A disk shared with data makes
 *     writes wait for flushes.
 * @param logBytes {@code strong_log_size}: of each replica group's log. Beyond it memtables are
 *     flushed and the log goes. Default 256MiB. Too small: many flushes, and members that were away
 *     copy tables instead of the log. Too big: a long replay at the start.
 * @param timeoutMillis {@code strong_timeout}: how long a request rides through changes of leaders.
 *     Default 5s. Too small: errors while a cut-off leader is replaced (2 s). Too big: clients wait
 *     longer for an error.
 * @param isReadLeased {@code strong_reads}: {@code lease} (the default): leaders answer reads while
 *     clocks say that nobody else can lead, which needs clocks that run about equally fast; {@code
 *     read_index}: they ask a majority each time.
 * @param keyspaces {@code strong_keyspaces}: those that are strong ones also if they are created
 *     with {@code SimpleStrategy} or {@code NetworkTopologyStrategy}, as tools do that can't be
 *     changed. Names, or how names start and {@code *}. The same on all nodes. Default: none.
 * @param rebalanceAfterMillis {@code strong_rebalance_after}: replicas move by themselves when the
 *     same nodes have been in the ring, and all of them up, for so long. Default 0s: only {@code
 *     ALTER KEYSPACE … REBALANCE} moves them. Too small: nodes that are added one after the other
 *     get replicas one after the other. Too big: after a node is gone, its groups have a replica
 *     less for longer.
 * @param isLeadershipCompactionAware {@code leadership_policy}: whom a leader of a replica group
 *     hands over to before a heavy compaction of its tables: {@code least-loaded}, {@code random},
 *     {@code round-robin}; {@code off} (the default): nobody, and Cassandra schedules compactions
 *     as it does.
 * @param leadership {@code leadership_threshold}: compactions of fewer bytes are run while leading.
 *     Default 64MiB. Too small: leaders change all the time. Too big: leaders compact. {@code
 *     leadership_back_off}: a group is not handed over again for so long. Default 10s. {@code
 *     leadership_max_per_minute}: of this node. Default 6. {@code leadership_wait}: so long at most
 *     does a heavy compaction wait while other members of this node's groups compact. Default 60s.
 *     Too small: replicas compact at the same time. Too big: SSTables pile up where all have much
 *     to compact. {@code leadership_dry_run}: {@code false} (the default), or {@code true}:
 *     decisions are only noted in {@code isolde.leadership_events}.
 */
public record StrongSettings(
    int port,
    String directory,
    long logBytes,
    long timeoutMillis,
    boolean isReadLeased,
    List<String> keyspaces,
    long rebalanceAfterMillis,
    boolean isLeadershipCompactionAware,
    HandOverPolicy.Rules leadership) {
  private static final Pattern KEYSPACE = Pattern.compile("\\w{1,48}\\*?");

  public StrongSettings {
    IsoldeConfig.require(port >= 1 && port < 65_535, "strong_port and the next must be TCP ports.");
    IsoldeConfig.require(!directory.isBlank(), "strong_directory must name a directory.");
    IsoldeConfig.require(logBytes >= IsoldeConfig.MIB, "strong_log_size must be at least 1MiB.");
    keyspaces = keyspaces.stream().distinct().sorted().toList();
    IsoldeConfig.require(
        keyspaces.stream().allMatch(KEYSPACE.asMatchPredicate()),
        "strong_keyspaces must be names of keyspaces, each with a * at its end or none.");
    IsoldeConfig.require(timeoutMillis >= 100, "strong_timeout must be at least 100ms.");
    IsoldeConfig.require(
        leadership.thresholdBytes() >= 1, "leadership_threshold must be at least 1B.");
    IsoldeConfig.require(
        leadership.maxPerMinute() >= 1, "leadership_max_per_minute must be at least 1.");
  }

  static StrongSettings of(IsoldeYaml file) {
    String policy = file.oneOf("leadership_policy", "off", "least-loaded", "random", "round-robin");
    return new StrongSettings(
        file.count("strong_port", 7312),
        file.text("strong_directory", "isolde-groups"),
        file.bytes("strong_log_size", 256L << 20),
        file.millis("strong_timeout", "5s"),
        file.choice("strong_reads", "lease", "read_index"),
        file.list("strong_keyspaces"),
        file.millis("strong_rebalance_after", "0s"),
        !policy.equals("off"),
        leadership(file, policy));
  }

  private static HandOverPolicy.Rules leadership(IsoldeYaml file, String policy) {
    return new HandOverPolicy.Rules(
        switch (policy) {
          case "random" -> HandOverPolicy.Choice.RANDOM;
          case "round-robin" -> HandOverPolicy.Choice.ROUND_ROBIN;
          case "off", "least-loaded" -> HandOverPolicy.Choice.LEAST_LOADED;
          default ->
              throw new IllegalStateException(
                  "leadership_policy '" + policy + "' has no choice of its own in StrongSettings.");
        },
        file.bytes("leadership_threshold", 64L << 20),
        file.millis("leadership_back_off", "10s"),
        file.count("leadership_max_per_minute", 6),
        file.millis("leadership_wait", "60s"),
        !file.choice("leadership_dry_run", "false", "true"));
  }
}
