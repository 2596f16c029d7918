// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import io.isolde.cluster.NodeSpec;
import java.util.Locale;

/** When Cassandra's commit log is on disk. */
public enum CommitLogSync {
  /** Before a write is answered. */
  BATCH("0ms"),

  /** Later, as is Cassandra's default: who is killed loses the last tenth of a second. */
  PERIODIC("10s");

  private final String period;

  CommitLogSync(String period) {
    this.period = period;
  }

  NodeSpec of(NodeSpec node) {
    return node.withCassandraSetting("commitlog_sync", toString())
        .withCassandraSetting("commitlog_sync_period", period);
  }

  /** As it is called in cassandra.yaml. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
