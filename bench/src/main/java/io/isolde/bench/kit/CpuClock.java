// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import com.sun.management.OperatingSystemMXBean;
import io.isolde.bench.kit.ContextSwitches.Count;
import java.lang.management.ManagementFactory;
import java.util.List;

/**
 * Processor time of what is measured, of this process, and of whatever else runs on the machine. On
 * a small machine these share the cores, so throughput alone doesn't say what a node does for a
 * request; and if others take part, it says little at all.
 */
public final class CpuClock {
  private static final OperatingSystemMXBean HERE =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
  private static final long OWN_PID = ProcessHandle.current().pid();

  private final Processes processes;
  private final long startMillis;
  private final long startNanos = System.nanoTime();
  private final long nodeNanos;
  private final long clientNanos = HERE.getProcessCpuTime();
  private final List<Count> nodeCounts;
  private final Count clientCount = ContextSwitches.of(OWN_PID);

  /**
   * Processor time that was used between two moments.
   *
   * @param elsewhere the share of all cores that other programs had, from 0 to 1
   * @param nodeSwitches context switches of the nodes; 0 where they are not known
   * @param clientSwitches those of this process
   * @param compilerShare of one core that the compilers of nodes and clients had: what was measured
   *     with much of it was partly an interpreter; above 1 if several had one each
   */
  public record Usage(
      long nodeNanos,
      long clientNanos,
      double elsewhere,
      long nodeSwitches,
      long clientSwitches,
      double compilerShare) {}

  /** Starts to look at these processes and at this one. */
  public CpuClock(Processes processes) {
    this.processes = processes;
    startMillis = processes.allCompilerMillis();
    nodeNanos = processes.processorNanos().getAsLong();
    nodeCounts = processes.pids().stream().map(ContextSwitches::of).toList();
    var unused = HERE.getCpuLoad(); // The next answer is about the time since this one.
  }

  /** Returns what was used since the start. */
  public Usage stop() {
    long usedByNodes = processes.processorNanos().getAsLong() - nodeNanos;
    long usedByClient = HERE.getProcessCpuTime() - clientNanos;
    double cores = Runtime.getRuntime().availableProcessors();
    double ours = (usedByNodes + usedByClient) / cores / (System.nanoTime() - startNanos);
    return new Usage(
        usedByNodes,
        usedByClient,
        Math.max(0, HERE.getCpuLoad() - ours),
        nodeSwitches(),
        ContextSwitches.of(OWN_PID).since(clientCount),
        compilerShare());
  }

  private long nodeSwitches() {
    long switches = 0;
    for (int i = 0; i < nodeCounts.size(); i++) {
      switches += ContextSwitches.of(processes.pids().get(i)).since(nodeCounts.get(i));
    }
    return switches;
  }

  /** What the compilers have had so far, of one core. */
  double compilerShare() {
    double millis = processes.allCompilerMillis() - startMillis;
    return millis * 1e6 / Math.max(1, System.nanoTime() - startNanos);
  }
}
