// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

/** What can be wrong with a history, by Adya's names where he has one. */
public enum Phenomenon {
  /** A value was read that nobody wrote, or one was read twice in a list. */
  GARBAGE_READ("a value that nobody wrote", true),
  /** A transaction did not see its own writes, or two of its reads differ without reason. */
  INTERNAL("reads within one transaction that do not fit together", true),
  /** Reads of a list of which none is the beginning of the other. */
  INCOMPATIBLE_ORDER("two orders of the same writes", true),
  /** Two transactions that read the same value replaced it, and both committed (P4). */
  LOST_UPDATE("a lost update", true),
  /** A value whose transaction was told to be committed is not there in the end. */
  LOST_WRITE("a committed write that is gone", true),
  G1A("a read of what an aborted transaction wrote (G1a)", true),
  G1B("a read of what its transaction wrote over (G1b)", true),
  G0("a cycle of writes (G0)", true),
  G1C("a cycle of writes and reads (G1c)", true),
  G_SINGLE("a cycle with one anti-dependency: read skew (G-single)", true),
  G_NONADJACENT("a cycle without two anti-dependencies in a row: long fork (G-nonadjacent)", true),
  G2_ITEM("a cycle of anti-dependencies: write skew (G2-item)", false);

  private final String words;
  private final boolean isForbiddenBySnapshot;

  Phenomenon(String words, boolean isForbiddenBySnapshot) {
    this.words = words;
    this.isForbiddenBySnapshot = isForbiddenBySnapshot;
  }

  /** Whether snapshot isolation excludes it; serializability excludes all. */
  public boolean isForbiddenBySnapshot() {
    return isForbiddenBySnapshot;
  }

  /** What it is, for people. */
  public String words() {
    return words;
  }
}
