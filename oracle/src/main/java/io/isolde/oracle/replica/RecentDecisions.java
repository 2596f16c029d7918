// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import io.isolde.oracle.Decision;

/**
 * The last decisions of one session by sequence number, so that a commit that is sent again (the
 * answer was lost, or the leader) is not decided again. As the client sessions of D. Ongaro's
 * dissertation "Consensus: Bridging Theory and Practice", section 6.3, with a window instead of the
 * last request only, since a coordinator has many commits in flight.
 */
final class RecentDecisions {
  /**
   * A coordinator sends sequence number n only when it has the answer to n - WINDOW, so nothing
   * that may be sent again has fallen out.
   */
  static final int WINDOW = 8192;

  /** A decision lies at its sequence number modulo the window. */
  private final Decision[] decisions = new Decision[WINDOW];

  private final int[] sequences = new int[WINDOW];

  Decision get(int sequence) {
    int slot = slotOf(sequence);
    return sequences[slot] == sequence ? decisions[slot] : null;
  }

  void record(int sequence, Decision decision) {
    int slot = slotOf(sequence);
    assert get(sequence) == null : "a commit is decided once";
    sequences[slot] = sequence;
    decisions[slot] = decision;
  }

  /** The decision at a place of the window, for saving; null if there is none. */
  Decision decisionAt(int slot) {
    return decisions[slot];
  }

  int sequenceAt(int slot) {
    return sequences[slot];
  }

  /** Sequence numbers may wrap around. */
  private static int slotOf(int sequence) {
    return sequence & (WINDOW - 1);
  }
}
