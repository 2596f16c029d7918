// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.io.PrintWriter;

/** One benchmark. */
interface Benchmark {

  /** Returns the word that selects it on the command line. */
  String name();

  /** Returns what it measures, in one sentence. */
  String summary();

  /** Runs it on nodes of its own. */
  Report run(BenchOptions options, PrintWriter out);
}
