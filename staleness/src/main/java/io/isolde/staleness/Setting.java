// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** A level to read at and a level to write at. */
public record Setting(Level read, Level write) {

  /** All that differ with so many replicas in each datacenter, the weakest reads first. */
  public static List<Setting> all(int... replicasByDatacenter) {
    List<Level> levels =
        Arrays.stream(Level.values())
            .filter(level -> level.isDistinct(replicasByDatacenter))
            .toList();
    List<Setting> settings = new ArrayList<>();
    for (Level read : levels) {
      for (Level write : levels) {
        // Cassandra reads at EACH_QUORUM, but nobody who asks for speed does.
        if (read != Level.EACH_QUORUM) {
          settings.add(new Setting(read, write));
        }
      }
    }
    return settings;
  }

  @Override
  public String toString() {
    return "read " + read + ", write " + write;
  }
}
