// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.failover;

import java.util.function.Consumer;

/**
 * What happens to a leader, and what ends it.
 *
 * @param strike is given the leader; returns when the leader is gone, or has been for a while
 * @param mend is given the same, once somebody else leads
 * @param hitsItsClients whether clients of the leader's node are hit as well
 */
record Event<L>(Consumer<L> strike, Consumer<L> mend, boolean hitsItsClients) {

  /** After which nothing is broken. */
  static <L> Event<L> harmless(Consumer<L> strike) {
    return new Event<>(strike, leader -> {}, false);
  }

  /** Which hits the leader's clients, too. */
  static <L> Event<L> hard(Consumer<L> strike, Consumer<L> mend) {
    return new Event<>(strike, mend, true);
  }
}
