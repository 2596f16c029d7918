// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * What the answer to a request says that had to be passed on.
 *
 * @param address where the leader listens for clients
 * @param range what it leads
 */
record HintedLeader(InetSocketAddress address, Leaders.Range range) {
  private static final String LEADER = "isolde-leader";
  private static final String GROUP = "isolde-group";

  /** Returns the hint in a custom payload; empty if there is none, or none that is understood. */
  static Optional<HintedLeader> in(Map<String, ByteBuffer> payload) {
    ByteBuffer leader = payload.get(LEADER);
    ByteBuffer group = payload.get(GROUP);
    if (leader == null || group == null || group.remaining() != 4 * Long.BYTES) {
      return Optional.empty();
    }
    ByteBuffer in = group.duplicate();
    UUID id = new UUID(in.getLong(), in.getLong());
    Leaders.Range range = new Leaders.Range(id, in.getLong(), in.getLong());
    return address(StandardCharsets.UTF_8.decode(leader.duplicate()).toString())
        .map(address -> new HintedLeader(address, range));
  }

  /** The address is one of digits, so nobody is asked for a name. */
  private static Optional<InetSocketAddress> address(String text) {
    int colon = text.lastIndexOf(':');
    try {
      return Optional.of(
          new InetSocketAddress(
              InetAddress.getByName(text.substring(0, Math.max(colon, 0))),
              Integer.parseInt(text.substring(colon + 1))));
    } catch (UnknownHostException | IllegalArgumentException e) {
      return Optional.empty(); // Of a node that has no address for clients yet.
    }
  }
}
