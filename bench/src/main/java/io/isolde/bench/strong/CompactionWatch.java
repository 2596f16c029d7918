// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.strong;

import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Repeated;
import io.isolde.cluster.ClusterException;
import io.isolde.cluster.NodeTool;
import java.util.List;
import java.util.Map;

/** Looks again and again how many nodes compact tables of a keyspace at the same time. */
final class CompactionWatch implements AutoCloseable {
  private static final long LOOK_MILLIS = 200;
  private static final String COMPACTIONS = "org.apache.cassandra.db:type=CompactionManager";

  private final String keyspace;
  private final List<NodeTool> nodes;

  /** How often so many nodes were found compacting; guarded by itself. */
  private final long[] looks;

  private final Repeated looking;

  CompactionWatch(String keyspace, List<NodeTool> nodes) {
    this.keyspace = keyspace;
    this.nodes = nodes;
    this.looks = new long[nodes.size() + 1];
    this.looking = new Repeated("compactions", this::look);
  }

  private void look() {
    int busy = (int) nodes.stream().filter(this::isCompacting).count();
    synchronized (looks) {
      looks[busy]++;
    }
    Pause.millis(LOOK_MILLIS);
  }

  private boolean isCompacting(NodeTool node) {
    try {
      return ((List<?>) node.attribute(COMPACTIONS, "Compactions"))
          .stream().anyMatch(each -> keyspace.equals(((Map<?, ?>) each).get("keyspace")));
    } catch (ClusterException noAnswerNow) {
      return false;
    }
  }

  /** The share of the time in which at least so many nodes compacted. */
  double shareOfAtLeast(int busyNodes) {
    synchronized (looks) {
      long all = 0;
      long found = 0;
      for (int busy = 0; busy < looks.length; busy++) {
        all += looks[busy];
        found += busy >= busyNodes ? looks[busy] : 0;
      }
      return all == 0 ? 0 : found / (double) all;
    }
  }

  @Override
  public void close() {
    looking.close();
  }
}
