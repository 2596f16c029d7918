// SPDX-License-Identifier: Apache-2.0
package io.isolde.configuration;

import io.isolde.oracle.configuration.NodeInfo;
import io.isolde.peers.Ring;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.service.StorageService;
import org.apache.cassandra.utils.FBUtilities;

/** This node, as it registers itself. */
final class ThisNode {
  private ThisNode() {}

  /** Whether it has its place in the ring; also while it leaves or moves, as it may lead then. */
  static boolean isInRing() {
    return StorageService.instance.isJoined();
  }

  static NodeInfo info() {
    return new NodeInfo(
        Ring.hostId(),
        Ring.self(),
        StorageService.instance.getNativeaddress(FBUtilities.getBroadcastAddressAndPort(), true),
        DatabaseDescriptor.getEndpointSnitch().getLocalDatacenter(),
        DatabaseDescriptor.getEndpointSnitch().getLocalRack());
  }
}
