// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.replica;

import java.util.List;

/**
 * What the leader puts into the log at once: commands, and what they need to know of the leader.
 *
 * @param timeMicros the leader's clock when it made the entry; what it decides gets timestamps from
 *     here on
 * @param floorMicros the largest start timestamp that the leader has given to a reader: nothing is
 *     committed at or below it any more
 * @param reserveUntilMicros the leader may give start timestamps up to this, once the entry is
 *     applied
 */
public record LogEntry(
    long timeMicros, long floorMicros, long reserveUntilMicros, List<Command> commands) {

  public LogEntry {
    commands = List.copyOf(commands);
    if (timeMicros < 0 || floorMicros < 0) {
      throw new IllegalArgumentException(
          "An entry has a negative time: " + timeMicros + ", " + floorMicros + ".");
    }
    if (reserveUntilMicros < Math.max(timeMicros, floorMicros)) {
      throw new IllegalArgumentException(
          "An entry reserves timestamps up to "
              + reserveUntilMicros
              + ", but its time is "
              + timeMicros
              + " and its floor "
              + floorMicros
              + ".");
    }
  }
}
