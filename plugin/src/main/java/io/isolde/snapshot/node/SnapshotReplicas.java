// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.node;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.peers.Ring;
import java.util.Set;
import java.util.TreeSet;
import org.apache.cassandra.db.Keyspace;
import org.apache.cassandra.locator.TokenMetadata;
import org.apache.cassandra.service.StorageService;

/** Which nodes have to have a snapshot, and whether they are there. */
final class SnapshotReplicas {
  private SnapshotReplicas() {}

  /**
   * The nodes that hold a part of a keyspace.
   *
   * @throws IsoldeException SNAPSHOT_FAILED if a part of it changes hands now
   */
  static Set<String> of(String keyspace) {
    TokenMetadata tokens = StorageService.instance.getTokenMetadata();
    boolean isChanging =
        !tokens.getPendingRangesMM(keyspace).isEmpty()
            || !tokens.getBootstrapTokens().isEmpty()
            || !tokens.getLeavingEndpoints().isEmpty()
            || tokens.getSizeOfMovingEndpoints() > 0;
    if (isChanging) {
      throw IsoldeException.of(
          ErrorCode.SNAPSHOT_FAILED,
          "A node is joining, leaving or moving, so what has to have the snapshot changes; take it"
              + " afterwards.",
          "keyspace",
          keyspace);
    }
    return Ring.names(
        Keyspace.open(keyspace).getReplicationStrategy().getAddressReplicas().keySet());
  }

  /**
   * Makes sure that nodes are up.
   *
   * @throws IsoldeException SNAPSHOT_FAILED with the names of those that are not
   */
  static void requireAlive(Set<String> nodes) {
    Set<String> down = new TreeSet<>(nodes);
    down.retainAll(Ring.members());
    down.removeAll(Ring.living());
    if (!down.isEmpty()) {
      throw IsoldeException.of(
          ErrorCode.SNAPSHOT_FAILED,
          "A snapshot needs all nodes, and these are down: "
              + String.join(", ", down)
              + ". Nothing was done.",
          "down",
          String.join(",", down));
    }
  }
}
