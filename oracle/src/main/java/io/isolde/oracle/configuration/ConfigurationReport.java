// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

import static java.util.Objects.requireNonNull;

import java.util.UUID;

/**
 * What nodes report to the configuration manager. Each may be repeated, and may come late: then it
 * changes nothing.
 */
public sealed interface ConfigurationReport {

  /** The node or group that it is about. */
  UUID entry();

  /**
   * A node of the ring, by itself.
   *
   * @param generation grows with each report of a node, over restarts, too: its clock will do. One
   *     with no higher generation than known changes nothing: it is old, or from an older process
   */
  record RegisterNode(NodeInfo node, long generation) implements ConfigurationReport {
    public RegisterNode {
      requireNonNull(node);
    }

    @Override
    public UUID entry() {
      return node.host();
    }
  }

  /**
   * A node has left the ring, as another one has seen.
   *
   * @param version of the configuration that the other one has read. If the node was changed since,
   *     it stays
   */
  record DeregisterNode(UUID host, long version) implements ConfigurationReport {
    public DeregisterNode {
      requireNonNull(host);
    }

    @Override
    public UUID entry() {
      return host;
    }
  }

  /**
   * A replica group, by its leader.
   *
   * @param generation grows with each report of a leader; of two reports of one term the higher one
   *     counts
   */
  record RegisterGroup(GroupInfo group, UUID leader, long term, long generation)
      implements ConfigurationReport {
    public RegisterGroup {
      requireNonNull(group);
      requireNonNull(leader);
    }

    @Override
    public UUID entry() {
      return group.id();
    }
  }

  /** A group that is registered has a leader of a higher term. */
  record NewLeader(UUID group, UUID leader, long term) implements ConfigurationReport {
    public NewLeader {
      requireNonNull(group);
      requireNonNull(leader);
    }

    @Override
    public UUID entry() {
      return group;
    }
  }

  /**
   * The keyspace of a group is dropped.
   *
   * @param version as of {@link DeregisterNode}
   */
  record DeregisterGroup(UUID group, long version) implements ConfigurationReport {
    public DeregisterGroup {
      requireNonNull(group);
    }

    @Override
    public UUID entry() {
      return group;
    }
  }
}
