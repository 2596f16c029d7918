// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

/** A place in a log: an entry's index, and the term of the leader that made it. */
public record LogPosition(long term, long index) {
  /** Before the first entry of any log. */
  public static final LogPosition NONE = new LogPosition(0, -1);
}
