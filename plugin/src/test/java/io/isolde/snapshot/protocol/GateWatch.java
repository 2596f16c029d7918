// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;

/** Sees whether the gates of all nodes were closed from the first cut to the last. */
final class GateWatch {
  /** Since when the gate of a node is closed; absent while it is open. */
  private final Map<Integer, Long> closedSince = new HashMap<>();

  private Map<Integer, Long> atFirstCut;
  private Map<Integer, Long> atLastCut;

  void closed(int node, long now) {
    closedSince.put(node, now);
  }

  void opened(int node) {
    closedSince.remove(node);
  }

  void cut() {
    if (atFirstCut == null) {
      atFirstCut = Map.copyOf(closedSince);
    }
    atLastCut = Map.copyOf(closedSince);
  }

  void check(int nodes) {
    assertThat(atFirstCut).as("gates at the first cut").hasSize(nodes);
    assertThat(atLastCut).as("gates at the last cut").isEqualTo(atFirstCut);
  }
}
