// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import io.isolde.cluster.NodeTool;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;

/**
 * One run of a benchmark.
 *
 * @param bench its name in reports
 * @param out where progress is printed
 */
public record Run(String bench, BenchOptions options, PrintWriter out) {

  /** Prints a line of progress. */
  public void say(String line) {
    out.println(line);
    out.flush();
  }

  /** Measures cases on nodes; the report also says who used the processors meanwhile. */
  public Report measure(List<NodeTool> nodes, Cases cases) {
    return reportWithCpu(samples(nodes, cases), cases.ratios());
  }

  /** Warms cases up on nodes and measures them; returns what was seen in each round, by case. */
  public Map<String, List<Sample>> samples(List<NodeTool> nodes, Cases cases) {
    return new Rounds(this, Processes.ofNodes(nodes)).run(cases.all());
  }

  /** Returns the report of cases that ran together. */
  public Report report(Map<String, List<Sample>> samples, List<Ratio> ratios) {
    return Report.of(bench, MachineDescription.ofThisMachine(), options, samples, ratios);
  }

  /** Returns the report of what has no cases, only numbers. */
  public Report report(Map<String, Double> metrics) {
    return report(Map.of(), List.of()).with(metrics);
  }

  /** As {@link #report}, and who used the processors in each case. */
  public Report reportWithCpu(Map<String, List<Sample>> samples, List<Ratio> ratios) {
    return report(samples, ratios).with(CpuMetrics.of(samples));
  }
}
