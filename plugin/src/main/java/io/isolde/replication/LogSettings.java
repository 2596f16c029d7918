// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import io.isolde.config.HeapBudget;
import io.isolde.config.StrongSettings;
import io.isolde.raft.RaftSettings;
import io.isolde.replication.KeyspaceOptions.Durability;

/** How the logs of this node's replicas are kept. */
final class LogSettings {
  private static final int ENTRIES_BETWEEN_LOOKS = 64;

  private LogSettings() {}

  static RaftSettings of(StrongSettings strong, Durability durability) {
    RaftSettings defaults = RaftSettings.defaults();
    HeapBudget heap = HeapBudget.ofThisNode();
    // The log goes by whole files.
    long segmentBytes = Math.min(defaults.segmentBytes(), strong.logBytes() / 4);
    return defaults
        .withSegmentBytes((int) Math.max(defaults.appendBytes(), segmentBytes))
        .withFsync(durability == Durability.BATCH)
        .withLeaseReads(strong.isReadLeased())
        .withSnapshots(ENTRIES_BETWEEN_LOOKS, false)
        .withinMemory(heap.waitingBytes(), heap.logFileBytes());
  }
}
