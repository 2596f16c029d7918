// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

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
  private final long[] looks;
  private final Thread thread = new Thread(this::watch, "compactions");
  private volatile boolean isOver;

  CompactionWatch(String keyspace, List<NodeTool> nodes) {
    this.keyspace = keyspace;
    this.nodes = nodes;
    this.looks = new long[nodes.size() + 1];
    thread.setDaemon(true);
    thread.start();
  }

  private void watch() {
    while (!isOver) {
      int busy = (int) nodes.stream().filter(this::isCompacting).count();
      synchronized (looks) {
        looks[busy]++;
      }
      Pause.millis(LOOK_MILLIS);
    }
  }

  private boolean isCompacting(NodeTool node) {
    try {
      return ((List<?>) node.attribute(COMPACTIONS, "Compactions"))
          .stream().anyMatch(each -> keyspace.equals(((Map<?, ?>) each).get("keyspace")));
    } catch (ClusterException noAnswerNow) {
      return false;
    }
  }

  /** The share of the time in which so many nodes compacted; of several, at least so many. */
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
    isOver = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
