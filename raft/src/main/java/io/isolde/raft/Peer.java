// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

import java.net.InetSocketAddress;

/** A member of a group: a name that never changes, and the address of its port. */
public record Peer(String id, InetSocketAddress address) {
  /** Checks the fields. */
  public Peer {
    if (id.isEmpty()) {
      throw new IllegalArgumentException("A peer needs a name.");
    }
    if (address.getPort() == 0) {
      throw new IllegalArgumentException("The address of peer " + id + " needs a port.");
    }
  }

  /** As one line of text, which {@link #parse} understands. */
  public String toLine() {
    return id + " " + address.getHostString() + " " + address.getPort();
  }

  /** Reads what {@link #toLine} has written. */
  public static Peer parse(String line) {
    String[] parts = line.split(" ", -1);
    return new Peer(parts[0], new InetSocketAddress(parts[1], Integer.parseInt(parts[2])));
  }
}
