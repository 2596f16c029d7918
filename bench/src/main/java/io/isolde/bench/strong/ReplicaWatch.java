// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.strong;

import io.isolde.bench.kit.Pause;
import io.isolde.bench.kit.Repeated;
import io.isolde.cluster.ClusterException;
import io.isolde.cluster.NodeTool;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Looks again and again how many nodes compact a table at the same time, and how often they have
 * flushed it. The keyspace has the name of the table.
 */
final class ReplicaWatch implements AutoCloseable {
  private static final long LOOK_MILLIS = 200;
  private static final String COMPACTIONS = "org.apache.cassandra.db:type=CompactionManager";

  private final String keyspace;
  private final String flushes;
  private final List<NodeTool> nodes;
  private final long startNanos = System.nanoTime();

  /** Guarded by itself. */
  private final List<Look> looks = new ArrayList<>();

  private final Repeated looking;

  /**
   * What one look found: how many nodes compact, and how often all together have flushed so far.
   */
  private record Look(double atSecond, int busy, long flushes) {}

  ReplicaWatch(String keyspace, List<NodeTool> nodes) {
    this.keyspace = keyspace;
    this.flushes =
        "org.apache.cassandra.metrics:type=Table,keyspace=%s,scope=%s,name=MemtableSwitchCount"
            .formatted(keyspace, keyspace);
    this.nodes = nodes;
    this.looking = new Repeated("replicas", this::look);
  }

  private void look() {
    int busy = (int) nodes.stream().filter(this::isCompacting).count();
    long flushed = nodes.stream().mapToLong(this::flushes).sum();
    synchronized (looks) {
      looks.add(new Look((System.nanoTime() - startNanos) / 1e9, busy, flushed));
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

  private long flushes(NodeTool node) {
    try {
      return ((Number) node.attribute(flushes, "Count")).longValue();
    } catch (ClusterException noAnswerNow) {
      return 0;
    }
  }

  private List<Look> looks() {
    synchronized (looks) {
      return List.copyOf(looks);
    }
  }

  /** The share of the time in which at least so many nodes compacted. */
  double shareOfAtLeast(int busyNodes) {
    return looks().stream().mapToInt(look -> look.busy >= busyNodes ? 1 : 0).average().orElse(0);
  }

  /** How many nodes compacted in each step, on average. */
  List<Double> compacting(int steps, double stepSeconds) {
    return inSteps(steps, stepSeconds, in -> in.mapToInt(Look::busy).average().orElse(0));
  }

  /** How many flushes there were in each step, of a node on average. */
  List<Double> flushes(int steps, double stepSeconds) {
    List<Double> found = new ArrayList<>();
    long before = looks().stream().mapToLong(Look::flushes).min().orElse(0);
    for (double after :
        inSteps(steps, stepSeconds, in -> in.mapToLong(Look::flushes).max().orElse(0))) {
      found.add(Math.max(0, after - before) / nodes.size());
      before = Math.max(before, (long) after);
    }
    return found;
  }

  private List<Double> inSteps(
      int steps, double stepSeconds, ToDoubleFunction<Stream<Look>> number) {
    List<Look> all = looks();
    return IntStream.range(0, steps)
        .mapToObj(
            step ->
                number.applyAsDouble(
                    all.stream().filter(look -> (int) (look.atSecond / stepSeconds) == step)))
        .toList();
  }

  @Override
  public void close() {
    looking.close();
  }
}
