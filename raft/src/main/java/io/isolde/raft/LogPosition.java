// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

/** A place in a log: an entry's index, and the term of the leader that made it. */
public record LogPosition(long term, long index) implements Comparable<LogPosition> {
  /** Before the first entry of any log. */
  public static final LogPosition NONE = new LogPosition(0, -1);

  /** As Raft compares the ends of logs (section 5.4.1): the term counts more. */
  @Override
  public int compareTo(LogPosition other) {
    int byTerm = Long.compare(term, other.term);
    return byTerm != 0 ? byTerm : Long.compare(index, other.index);
  }
}
