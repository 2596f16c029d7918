// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import io.isolde.client.Isolde;
import io.isolde.client.TransactionOptions;
import java.util.List;
import java.util.Random;

/** What clients do, and what must hold for it. */
interface CheckedWorkload {
  /** The tables, made once for all epochs; none if whoever made the workload has made them. */
  default List<String> tables() {
    return List.of();
  }

  /** Before the epoch; may take several attempts, so it must be repeatable. */
  default void prepare(Isolde isolde) {}

  /** One transaction, of any number of clients at once. */
  void step(Isolde isolde, TransactionOptions options, Random random, Recorder recorder);

  /** Reads all that was written, after the last step. Returns whether that was possible. */
  boolean readAll(Isolde isolde, TransactionOptions options, Recorder recorder);

  /** What must not be; empty if all is well. */
  List<String> violations(Recorder recorder);
}
