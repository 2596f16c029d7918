// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.sun.management.OperatingSystemMXBean;
import io.isolde.bench.ContextSwitches.Count;
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

  private static final long OWN_PID = ProcessHandle.current().pid();

  private final LongSupplier nodeNanos;
  private final List<Long> nodePids;

  /** A clock for the nodes of a cluster together. */
  static CpuClock ofNodes(List<NodeTool> nodes) {
    return new CpuClock(
        () -> nodes.stream().mapToLong(CpuClock::processorNanos).sum(),
        nodes.stream()
            .map(node -> (Long) node.attribute("java.lang:type=Runtime", "Pid"))
            .toList());
  }

  private static long processorNanos(NodeTool node) {
    return (Long) node.attribute("java.lang:type=OperatingSystem", "ProcessCpuTime");
  }

  private CpuClock(LongSupplier nodeNanos, List<Long> nodePids) {
    this.nodeNanos = nodeNanos;
    this.nodePids = nodePids;
  }

  /** Returns a clock for processes that together are what is measured. */
  static CpuClock of(List<ChildProcess> processes) {
    return new CpuClock(
        () -> processes.stream().mapToLong(ChildProcess::processorNanos).sum(), List.of());
  }

  /** Returns a clock for what is measured in this process, without a node. */
  static CpuClock withoutNode() {
    return new CpuClock(() -> 0, List.of());
  }

  /**
   * Processor time that was used between two moments.
   *
   * @param elsewhere the share of all cores that other programs had, from 0 to 1
   * @param nodeSwitches context switches of the nodes; 0 where nothing tells
   * @param clientSwitches those of this process
   */
  record Usage(
      long nodeNanos, long clientNanos, double elsewhere, long nodeSwitches, long clientSwitches) {}

  /** A measurement that has begun. */
  final class Running {
    private final long wallNanos = System.nanoTime();
    private final long nodeNanosBefore = nodeNanos.getAsLong();
    private final long clientNanos = HERE.getProcessCpuTime();
    private final List<Count> nodeCounts = nodePids.stream().map(ContextSwitches::of).toList();
    private final Count clientCount = ContextSwitches.of(OWN_PID);

    private Running() {
      var unused = HERE.getCpuLoad(); // The next answer is about the time since this one.
    }

    Usage stop() {
      long usedByNode = nodeNanos.getAsLong() - nodeNanosBefore;
      long usedByClient = HERE.getProcessCpuTime() - clientNanos;
      double cores = Runtime.getRuntime().availableProcessors();
      double ours = (usedByNode + usedByClient) / cores / (System.nanoTime() - wallNanos);
      double elsewhere = Math.max(0, HERE.getCpuLoad() - ours);
      return new Usage(
          usedByNode,
          usedByClient,
          elsewhere,
          nodeSwitches(),
          ContextSwitches.of(OWN_PID).since(clientCount));
    }

    private long nodeSwitches() {
      long switches = 0;
      for (int i = 0; i < nodePids.size(); i++) {
        switches += ContextSwitches.of(nodePids.get(i)).since(nodeCounts.get(i));
      }
      return switches;
    }
  }

  Running start() {
    return new Running();
  }
}
