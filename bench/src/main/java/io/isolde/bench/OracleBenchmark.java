// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.io.PrintWriter;

/** What the status oracle can do, one part after the other. */
final class OracleBenchmark implements Benchmark {

  @Override
  public String name() {
    return "oracle";
  }

  @Override
  public String summary() {
    return "decisions of the status oracle per second, at both isolation levels";
  }

  @Override
  public Report run(BenchOptions options, PrintWriter out) {
    return new OracleCore(name(), options, out).run();
  }
}
