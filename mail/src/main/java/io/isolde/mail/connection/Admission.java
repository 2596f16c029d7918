// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.connection;

import java.net.InetAddress;
import java.util.HashMap;
import java.util.Map;

/**
 * How many connections there are, in all and of each address; of IPv6 a network counts as one. For
 * all threads.
 */
public final class Admission {
  private final int maxConnections;
  private final int maxConnectionsPerAddress;

  /** Only addresses with connections, so it has at most as many entries as there are of those. */
  private final Map<InetAddress, Integer> connections = new HashMap<>();

  private int all;

  public Admission(int maxConnections, int maxConnectionsPerAddress) {
    this.maxConnections = maxConnections;
    this.maxConnectionsPerAddress = maxConnectionsPerAddress;
  }

  /** Counts one more connection, unless there are too many; who got true has to leave. */
  public synchronized boolean tryEnter(InetAddress address) {
    InetAddress network = ClientNetwork.of(address);
    int ofAddress = connections.getOrDefault(network, 0);
    if (all >= maxConnections || ofAddress >= maxConnectionsPerAddress) {
      return false;
    }
    all++;
    connections.put(network, ofAddress + 1);
    return true;
  }

  /** A connection that had entered is closed. */
  public synchronized void leave(InetAddress address) {
    all--;
    connections.computeIfPresent(
        ClientNetwork.of(address), (key, count) -> count == 1 ? null : count - 1);
  }

  public synchronized int connections() {
    return all;
  }
}
