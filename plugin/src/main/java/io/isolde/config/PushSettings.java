// SPDX-License-Identifier: Apache-2.0
package io.isolde.config;

/**
 * Of the port on which this node pushes changes to clients.
 *
 * @param port {@code push_port}: TCP, the same on all nodes, at the address where Cassandra listens
 *     for clients. Default 0: none, and clients ask with SELECT CHANGES. 7314 is free beside the
 *     other ports of Isolde.
 * @param maxConnections {@code push_max_connections}: clients at the same time, each with 1,024
 *     subscriptions at most. Default 20000. Too small: clients are refused, and try other nodes.
 *     Too big: memory, and file descriptors.
 */
public record PushSettings(int port, int maxConnections) {
  private static final int MAX_CONNECTIONS = 1_000_000;

  public PushSettings {
    IsoldeConfig.require(port >= 0 && port <= 65_535, "push_port must be a TCP port, or 0.");
    IsoldeConfig.require(
        maxConnections >= 1 && maxConnections <= MAX_CONNECTIONS,
        "push_max_connections must be between 1 and 1000000.");
  }

  static PushSettings of(IsoldeYaml file) {
    return new PushSettings(file.count("push_port", 0), file.count("push_max_connections", 20_000));
  }

  /** Whether there is such a port. */
  public boolean isOn() {
    return port != 0;
  }
}
