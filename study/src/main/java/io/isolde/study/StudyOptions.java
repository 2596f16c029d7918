// SPDX-License-Identifier: Apache-2.0
package io.isolde.study;

import io.isolde.study.live.Sessions.Credentials;
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

  public StudyOptions {
    require(nodes >= REPLICAS, "A study needs at least %d nodes.".formatted(REPLICAS));
    require(
        nodes >= profile.datacenters().size(),
        "The profile has %d datacenters, so a study of it needs at least as many nodes."
            .formatted(profile.datacenters().size()));
    require(secondsPerSetting >= 2, "A setting takes at least 2 seconds.");
    require(warmupSeconds >= 0, "The warm-up can't take less than no time.");
    require(
        episodesPerSecond >= 1 && episodesPerSecond <= 10_000,
        "The rows per second must be between 1 and 10000.");
    require(maxAfterMillis >= 1 && maxAfterMillis <= 60_000, "Reads come within a minute.");
    require(
        !hasChurn || running.isEmpty(),
        "Nodes of a running cluster are not killed: churn is for a local one.");
  }

  private static void require(boolean holds, String sentence) {
    if (!holds) {
      throw new StudyException(sentence);
    }
  }
}
