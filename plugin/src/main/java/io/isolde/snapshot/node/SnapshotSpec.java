// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.node;

import io.isolde.snapshot.protocol.Step;
import java.util.List;
import java.util.UUID;

/**
 * One snapshot, as its creator describes it to a node with every request.
 *
 * @param creation the snapshot
 * @param snapshot its name
 * @param creator the address of the node that makes it
 * @param isGated whether writes wait while it is cut
 * @param cutMicros the moment of it, since 1970; 0 before it is chosen
 * @param gateMillis how long writes may wait
 * @param loadMillis how long it may take to bring the content into the tables
 */
record SnapshotSpec(
    UUID creation,
    String snapshot,
    String creator,
    List<Table> tables,
    boolean isGated,
    long cutMicros,
    long gateMillis,
    long loadMillis) {

  /**
   * A table of it.
   *
   * @param isTransactional whether it is cut at the timestamp
   */
  record Table(String source, UUID sourceId, UUID targetId, boolean isTransactional) {}

  /** What a node may be asked. */
  enum Kind {
    STEP,
    RELEASE,
    STATUS
  }

  /**
   * A request.
   *
   * @param step null unless it is about a step
   * @param order null for the status
   */
  record Request(Kind kind, Step step, SnapshotSpec order) {}
}
