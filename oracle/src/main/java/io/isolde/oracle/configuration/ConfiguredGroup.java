// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

import static java.util.Objects.requireNonNull;

import java.util.UUID;

/**
 * A replica group.
 *
 * @param leader the host id of the member that led it last, as far as that was reported
 * @param term of this leader; grows with each new one
 * @param version of its last change
 */
public record ConfiguredGroup(GroupInfo info, UUID leader, long term, long version) {
  public ConfiguredGroup {
    requireNonNull(leader);
  }

  /**
   * Whether a leader can be asked.
   *
   * @param leader null if it is no node of the ring
   */
  public static State stateWith(ConfiguredNode leader) {
    return leader != null && leader.isUp() ? State.LED : State.LEADER_DOWN;
  }

  /** Whether its leader can be asked, by what the configuration knows. */
  public enum State {
    /** The leader is up. */
    LED,
    /** The leader is not up, or no node of the ring; a new one has not reported itself yet. */
    LEADER_DOWN
  }
}
