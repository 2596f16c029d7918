// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import io.isolde.cluster.Network;
import java.util.ArrayList;
import java.util.List;

/**
 * What nodes send to each other is lost, on some ways.
 *
 * @param ways that are cut
 */
record Cut(String name, List<Way> ways) implements Fault {
  /** From a node to another; the first is 1. */
  record Way(int from, int to) {}

  /** Whether a fault is a cut, which takes a network of its own. */
  static boolean isMeantBy(FaultKind kind) {
    return kind == FaultKind.PARTITION || kind == FaultKind.MUTE || kind == FaultKind.DEAF;
  }

  /**
   * Between a node and all others.
   *
   * @param kind says in which direction
   */
  static Cut of(FaultKind kind, int node, int nodes) {
    List<Way> ways = new ArrayList<>();
    for (int other = 1; other <= nodes; other++) {
      if (other != node && kind != FaultKind.DEAF) {
        ways.add(new Way(node, other));
      }
      if (other != node && kind != FaultKind.MUTE) {
        ways.add(new Way(other, node));
      }
    }
    return new Cut(name(kind, node), List.copyOf(ways));
  }

  private static String name(FaultKind kind, int node) {
    return switch (kind) {
      case PARTITION -> "partition of node " + node;
      case MUTE -> "node " + node + " is not heard";
      case DEAF -> "node " + node + " does not hear";
      default -> throw new IllegalArgumentException(kind + " cuts nothing off.");
    };
  }

  @Override
  public void begin() {
    ways.forEach(way -> Network.cut(way.from(), way.to()));
  }

  @Override
  public void end() {
    ways.forEach(way -> Network.mend(way.from(), way.to()));
  }
}
