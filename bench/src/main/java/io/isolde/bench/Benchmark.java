// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench;

import java.io.PrintWriter;
import java.util.List;

/** One benchmark. */
interface Benchmark {

  /** Returns the word that selects it on the command line. */
  String name();

  /** Returns what it measures, in one sentence. */
  String summary();

  /** Runs it on nodes of its own. */
  Report run(BenchOptions options, PrintWriter out);

  /** Whether it measures more where nodes can be cut off from one another. */
  default boolean wantsOwnNetwork() {
    return false;
  }

  /** Returns pictures of what it found out, if there is something to draw. */
  default List<? extends Picture> figures(Report report) {
    return List.of();
  }
}
