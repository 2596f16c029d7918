// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

/**
 * Of CREATE SNAPSHOT.
 *
 * @param timeoutMillis {@code snapshot_timeout}: how long a node may take to bring the content of a
 *     snapshot into its tables. Default 10m. Too small: snapshots of large tables that change a lot
 *     fail. Too big: it takes as long to hear that a node is stuck.
 * @param gateLimitMillis {@code snapshot_gate_limit}: how long writes may wait for a snapshot
 *     {@code WITH gate = true}. Default 2s. Too small: such snapshots fail on a busy cluster. Too
 *     big: writes time out behind a creator that is gone.
 * @param maxOverlap {@code snapshot_max_overlap}: how many SSTables of a snapshot may overlap
 *     before they are merged, once. Default 8. Too small: disk space and work for snapshots that
 *     are little read. Too big: slow reads of those.
 */
public record SnapshotSettings(long timeoutMillis, long gateLimitMillis, int maxOverlap) {
  public SnapshotSettings {
    IsoldeConfig.require(timeoutMillis >= 1000, "snapshot_timeout must be at least 1s.");
    IsoldeConfig.require(
        gateLimitMillis >= 100 && gateLimitMillis <= 10_000,
        "snapshot_gate_limit must be between 100ms and 10s.");
    IsoldeConfig.require(maxOverlap >= 1, "snapshot_max_overlap must be at least 1.");
  }

  static SnapshotSettings of(IsoldeYaml file) {
    return new SnapshotSettings(
        file.millis("snapshot_timeout", "10m"),
        file.millis("snapshot_gate_limit", "2s"),
        file.count("snapshot_max_overlap", 8));
  }
}
