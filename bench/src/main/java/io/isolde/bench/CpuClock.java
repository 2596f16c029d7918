// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.sun.management.OperatingSystemMXBean;
import io.isolde.cluster.NodeTool;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Processor time of a node, of this process, which makes its requests, and of whatever else runs on
 * the machine. On a small machine the two share the cores, so throughput alone doesn't tell what
 * the node does for a request; and if others take part, it tells little at all.
 */
final class CpuClock {
  private static final OperatingSystemMXBean HERE =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private final LongSupplier nodeNanos;

  /** A clock for the nodes of a cluster together. */
  static CpuClock ofNodes(List<NodeTool> nodes) {
    return new CpuClock(() -> nodes.stream().mapToLong(CpuClock::processorNanos).sum());
  }

  private static long processorNanos(NodeTool node) {
    return (Long) node.attribute("java.lang:type=OperatingSystem", "ProcessCpuTime");
  }

  private CpuClock(LongSupplier nodeNanos) {
    this.nodeNanos = nodeNanos;
  }

  /** Returns a clock for processes that together are what is measured. */
  static CpuClock of(List<ChildProcess> processes) {
    return new CpuClock(() -> processes.stream().mapToLong(ChildProcess::processorNanos).sum());
  }

  /** Returns a clock for what is measured in this process, without a node. */
  static CpuClock withoutNode() {
    return new CpuClock(() -> 0);
  }

  /**
   * Processor time that was used between two moments.
   *
   * @param elsewhere the share of all cores that other programs had, from 0 to 1
   */
  record Usage(long nodeNanos, long clientNanos, double elsewhere) {}

  /** A measurement that has begun. */
  final class Running {
    private final long wallNanos = System.nanoTime();
    private final long nodeNanosBefore = nodeNanos.getAsLong();
    private final long clientNanos = HERE.getProcessCpuTime();

    private Running() {
      var unused = HERE.getCpuLoad(); // The next answer is about the time since this one.
    }

    Usage stop() {
      long usedByNode = nodeNanos.getAsLong() - nodeNanosBefore;
      long usedByClient = HERE.getProcessCpuTime() - clientNanos;
      double cores = Runtime.getRuntime().availableProcessors();
      double ours = (usedByNode + usedByClient) / cores / (System.nanoTime() - wallNanos);
      return new Usage(usedByNode, usedByClient, Math.max(0, HERE.getCpuLoad() - ours));
    }
  }

  Running start() {
    return new Running();
  }
}
