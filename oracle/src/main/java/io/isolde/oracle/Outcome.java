// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

/** How a decided transaction ended, for a client that lost the answer. */
public sealed interface Outcome {
  /** COMMITTED or ABORTED. */
  String name();

  /** Committed; visible to a transaction whose start timestamp is at least this one. */
  record Committed(long commitTimestamp) implements Outcome {
    @Override
    public String name() {
      return "COMMITTED";
    }
  }

  /**
   * Aborted; nothing of it is or will be visible.
   *
   * @param conflict the reason; {@link Conflict#REQUESTED} if there is no other
   */
  record Aborted(Conflict conflict) implements Outcome {
    @Override
    public String name() {
      return "ABORTED";
    }
  }
}
