// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import com.sun.management.OperatingSystemMXBean;
import io.isolde.cluster.NodeTool;
import java.lang.management.ManagementFactory;

/**
 * Processor time of a node and of this process, which makes its requests. On a small machine the
 * two share the cores, so throughput alone doesn't tell what the node does for a request.
 */
final class CpuClock {
  private static final OperatingSystemMXBean HERE =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

  private final NodeTool node;

  CpuClock(NodeTool node) {
    this.node = node;
  }

  /**
   * Processor time used, since the processes' start or between two moments.
   *
   * @param wallNanos the time that passed
   */
  record Reading(long nodeNanos, long clientNanos, long wallNanos) {

    Reading since(Reading earlier) {
      return new Reading(
          nodeNanos - earlier.nodeNanos,
          clientNanos - earlier.clientNanos,
          wallNanos - earlier.wallNanos);
    }
  }

  Reading read() {
    long nodeNanos = (Long) node.attribute("java.lang:type=OperatingSystem", "ProcessCpuTime");
    return new Reading(nodeNanos, HERE.getProcessCpuTime(), System.nanoTime());
  }
}
