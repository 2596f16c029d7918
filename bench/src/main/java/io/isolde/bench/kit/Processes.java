// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import io.isolde.cluster.NodeTool;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The processes that do what is measured, such as nodes; this one makes the requests.
 *
 * @param processorNanos the processor time that they have used together
 * @param compilerMillis the time that their just-in-time compilers have used
 * @param pids for the context switches; empty where nobody asks for these
 */
public record Processes(LongSupplier processorNanos, LongSupplier compilerMillis, List<Long> pids) {
  /** What is measured is in this process. */
  public static final Processes NONE = new Processes(() -> 0, () -> 0, List.of());

  /** Of one core, spent compiling: less than this is the usual trickle. */
  static final double CALM_SHARE = 0.1;

  private static final long LOOK_MILLIS = 250;
  private static final int CALM_LOOKS = 2;

  /** Compilers that need more go on at the next pause. */
  private static final long MAX_PAUSE_SECONDS = 5;

  /** Those of nodes. */
  public static Processes ofNodes(List<NodeTool> nodes) {
    return new Processes(
        () -> sum(nodes, "OperatingSystem", "ProcessCpuTime"),
        () -> sum(nodes, "Compilation", "TotalCompilationTime"),
        nodes.stream().map(node -> number(node, "Runtime", "Pid")).toList());
  }

  private static long sum(List<NodeTool> nodes, String bean, String attribute) {
    return nodes.stream().mapToLong(node -> number(node, bean, attribute)).sum();
  }

  private static Long number(NodeTool node, String bean, String attribute) {
    return (Long) node.attribute("java.lang:type=" + bean, attribute);
  }

  /** Those of this process included. */
  long allCompilerMillis() {
    return compilerMillis.getAsLong()
        + ManagementFactory.getCompilationMXBean().getTotalCompilationTime();
  }

  /**
   * Waits until the compilers have little left to do, for some seconds at most. Under full load on
   * few cores they fall behind for minutes, since a hundred request threads want the same cores.
   * What is measured meanwhile is an interpreter.
   */
  public void awaitCalm() {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(MAX_PAUSE_SECONDS);
    int calm = 0;
    while (calm < CALM_LOOKS && System.nanoTime() - deadline < 0) {
      long before = allCompilerMillis();
      Pause.millis(LOOK_MILLIS);
      calm = allCompilerMillis() - before < CALM_SHARE * LOOK_MILLIS ? calm + 1 : 0;
    }
  }
}
