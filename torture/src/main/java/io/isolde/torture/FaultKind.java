// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

/** What can go wrong. */
public enum FaultKind {
  /** kill -9 of a node; it is started again. */
  KILL,
  /** kill -9 of all nodes at once. */
  KILL_ALL,
  /** A node hangs (SIGSTOP), and goes on later as if nothing had happened. */
  PAUSE,
  /** A node and the others don't hear each other; clients reach both sides. */
  PARTITION,
  /** What a node sends to the others is lost; it hears them. */
  MUTE,
  /** What the others send to a node is lost; they hear it. */
  DEAF,
  /**
   * A node's clock goes wrong by up to 20 s, into the past or the future; every other time leaders
   * hand over meanwhile.
   */
  SKEW,
  /** Leaders hand over to others about every second, as before heavy compactions. */
  HAND_OVER
}
