// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import io.isolde.cluster.ToolException;
import io.isolde.study.live.NodeSessions.Credentials;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * What to study.
 *
 * @param nodes of the local cluster
 * @param secondsPerSetting how long each pair of levels is measured
 * @param episodesPerSecond new rows per second, each written several times and then read
 * @param maxAfterMillis the longest time from a write to a read
 * @param hasChurn whether nodes are paused, killed, started again and added in a last part
 * @param running a cluster to study instead of a local one
 */
public record StudyOptions(
    int nodes,
    Profile profile,
    int secondsPerSetting,
    int warmupSeconds,
    int episodesPerSecond,
    int maxAfterMillis,
    boolean hasChurn,
    int heapMegabytes,
    long seed,
    Optional<Running> running) {

  /** A running cluster, by one of its nodes, and as whom to study it. */
  public record Running(InetSocketAddress contactPoint, Optional<Credentials> credentials) {}

  /** N: as in the paper. */
  static final int REPLICAS = 3;

  /** Of one load: each is read 16 times, and all that clients saw is kept in memory. */
  static final int MAX_ROWS = 100_000;

  private static final int MAX_SECONDS = 3_600;

  public StudyOptions {
    require(nodes >= REPLICAS, "A study needs at least %d nodes.".formatted(REPLICAS));
    require(
        nodes >= profile.datacenters().size(),
        "The profile has %d datacenters, so a study of it needs at least as many nodes."
            .formatted(profile.datacenters().size()));
    require(
        secondsPerSetting >= 2 && secondsPerSetting <= MAX_SECONDS,
        "A setting takes at least 2 seconds, and at most %d.".formatted(MAX_SECONDS));
    require(
        warmupSeconds >= 0 && warmupSeconds <= MAX_SECONDS,
        "The warm-up can't take less than no time, or more than %d seconds."
            .formatted(MAX_SECONDS));
    require(
        episodesPerSecond >= 1 && episodesPerSecond <= 10_000,
        "The rows per second must be between 1 and 10000.");
    require(
        (long) Math.max(secondsPerSetting, warmupSeconds) * episodesPerSecond <= MAX_ROWS,
        "The seconds times the rows per second are more than the %d rows that a study keeps in"
                .formatted(MAX_ROWS)
            + " memory: say less of either.");
    require(maxAfterMillis >= 1 && maxAfterMillis <= 60_000, "Reads come within a minute.");
    require(
        !hasChurn || running.isEmpty(),
        "Nodes of a running cluster are not killed: churn is for a local one.");
  }

  private static void require(boolean holds, String sentence) {
    if (!holds) {
      throw new ToolException(sentence);
    }
  }
}
