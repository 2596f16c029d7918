// SPDX-License-Identifier: Apache-2.0
package io.isolde.raft;

/** Hears who leads a group. Called in order, on a thread of the node's own; it must not block. */
public interface LeaderListener {
  /** This node leads and has applied everything that was committed before. */
  default void leaderReady(long term) {}

  /** This node led, and no longer does. */
  default void steppedDown() {}
}
