// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.util.Map;
import java.util.Optional;

/**
 * How many replicas each range is to have, and where.
 *
 * @param all in all datacenters together
 * @param byDatacenter in each; empty if they are spread over all datacenters that there are
 * @param leaders the datacenter where groups are to be led, if there is one
 */
public record ReplicaCounts(int all, Map<String, Integer> byDatacenter, Optional<String> leaders) {
  /** Checks that they add up. */
  public ReplicaCounts {
    byDatacenter = Map.copyOf(byDatacenter);
    int sum = byDatacenter.values().stream().mapToInt(Integer::intValue).sum();
    if (!byDatacenter.isEmpty() && sum != all) {
      throw new IllegalArgumentException(
          "The datacenters have %d replicas together, not %d.".formatted(sum, all));
    }
  }

  /** Spread over all datacenters; led anywhere. */
  public static ReplicaCounts of(int all) {
    return new ReplicaCounts(all, Map.of(), Optional.empty());
  }
}
