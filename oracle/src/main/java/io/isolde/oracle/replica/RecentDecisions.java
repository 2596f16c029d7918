// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

/**
 * The last answers to the commits of one session by sequence number. With them, a commit that is
 * sent again (the answer was lost, or the leader) is not decided again. As the client sessions of
 * D. Ongaro's dissertation "Consensus: Bridging Theory and Practice", section 6.3, with a window
 * instead of the last request only, since a coordinator has many commits in flight.
 */
/*
 * Refusals are kept, too: a copy of a refused commit that comes late must not be decided after all,
 * as its coordinator would never know.
 */
final class RecentDecisions {
  /**
   * A coordinator sends sequence number n only when n - WINDOW has its answer, or will not be sent
   * again. So nothing that may be sent again has fallen out.
   */
  static final int WINDOW = 8192;

  /** Before the first. */
  private static final int NONE = -1;

  /** An answer lies at its sequence number modulo the window. */
  private final Answer[] answers = new Answer[WINDOW];

  private final int[] sequences = new int[WINDOW];

  /** The newest sequence number answered; all answered are less than the window behind it. */
  private int newest;

  RecentDecisions() {
    this(NONE);
  }

  /** Restores what was saved; answers are recorded one by one. */
  RecentDecisions(int newest) {
    this.newest = newest;
  }

  /**
   * Whether a coordinator that keeps to the rule can send this now and want an answer. A copy of a
   * commit from before the window was answered, and the coordinator knows how.
   */
  boolean isInWindow(int sequence) {
    int ahead = sequence - newest;
    return -WINDOW < ahead && ahead <= WINDOW;
  }

  Answer get(int sequence) {
    int slot = slotOf(sequence);
    return sequences[slot] == sequence ? answers[slot] : null;
  }

  void record(int sequence, Answer answer) {
    int slot = slotOf(sequence);
    assert get(sequence) == null : "a commit is decided once";
    assert isInWindow(sequence);
    sequences[slot] = sequence;
    answers[slot] = answer;
    if (sequence - newest > 0) {
      newest = sequence;
    }
  }

  int newest() {
    return newest;
  }

  /** The answer at a place of the window, for saving; null if there is none, or it fell out. */
  Answer answerAt(int slot) {
    return isInWindow(sequences[slot]) ? answers[slot] : null;
  }

  int sequenceAt(int slot) {
    return sequences[slot];
  }

  /** Sequence numbers may wrap around. */
  private static int slotOf(int sequence) {
    return sequence & (WINDOW - 1);
  }
}
