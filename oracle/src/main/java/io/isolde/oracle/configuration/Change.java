// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

import static java.util.Objects.requireNonNull;

import java.util.UUID;

/** One change of the configuration; made in order of their versions, they give the newest one. */
public sealed interface Change {
  /** Of a change that names no ranges. */
  int SMALL_BYTES = 96;

  /** What it counts against the bounds. */
  default int bytes() {
    return SMALL_BYTES;
  }

  /** A node is there, or is another way now than before. */
  record NodeRegistered(NodeInfo node, boolean isUp) implements Change {
    public NodeRegistered {
      requireNonNull(node);
    }

    @Override
    public int bytes() {
      return SMALL_BYTES + node.bytes();
    }
  }

  /** The oracle hears of a node again, or does not any more. */
  record NodeLiveness(UUID host, boolean isUp) implements Change {
    public NodeLiveness {
      requireNonNull(host);
    }
  }

  /** A node has left the ring. */
  record NodeRemoved(UUID host) implements Change {
    public NodeRemoved {
      requireNonNull(host);
    }
  }

  /** A group is there, or is another way now than before. */
  record GroupRegistered(GroupInfo group, UUID leader, long term) implements Change {
    public GroupRegistered {
      requireNonNull(group);
      requireNonNull(leader);
    }

    @Override
    public int bytes() {
      return SMALL_BYTES + group.bytes();
    }
  }

  /** A group has a new leader. */
  record LeaderChanged(UUID group, UUID leader, long term) implements Change {
    public LeaderChanged {
      requireNonNull(group);
      requireNonNull(leader);
    }
  }

  /** A group is gone with its keyspace. */
  record GroupRemoved(UUID group) implements Change {
    public GroupRemoved {
      requireNonNull(group);
    }
  }
}
