// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.protocol;

import java.util.ArrayList;
import java.util.List;

/** What every node is asked to do for a snapshot; none begins before all have ended the last. */
public enum Step {
  /** Nobody else makes a snapshot of this name. */
  RESERVE,
  /** The tables of the snapshot are there, empty. */
  SEE_TABLES,
  /** Writes to the tables wait here; those under way have ended. Only where a gate is asked for. */
  CLOSE_GATE,
  /** The content is settled: what is written from now on is not in it. */
  CUT,
  /** Writes go on; done only if they waited all the time. Only where a gate is asked for. */
  OPEN_GATE,
  /** The content is in the tables, and on disk. */
  LOAD,
  /** The snapshot can be read. It exists by now, whatever becomes of this step. */
  SEE_READY;

  /** The steps of a snapshot in their order. */
  public static List<Step> of(boolean isGated) {
    List<Step> steps = new ArrayList<>(List.of(values()));
    if (!isGated) {
      steps.removeAll(List.of(CLOSE_GATE, OPEN_GATE));
    }
    return steps;
  }
}
