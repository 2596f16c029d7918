// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

/** Where a node is. */
public record Place(String datacenter, String rack) implements Comparable<Place> {

  /** How far apart two places are. */
  public enum Distance {
    SAME_RACK(1),
    SAME_DATACENTER(2),
    ELSEWHERE(3);

    private final int steps;

    Distance(int steps) {
      this.steps = steps;
    }

    /** The farther, the more. */
    int steps() {
      return steps;
    }
  }

  /** How far another place is from here. */
  public Distance to(Place other) {
    if (!datacenter.equals(other.datacenter)) {
      return Distance.ELSEWHERE;
    }
    return rack.equals(other.rack) ? Distance.SAME_RACK : Distance.SAME_DATACENTER;
  }

  @Override
  public int compareTo(Place other) {
    int byDatacenter = datacenter.compareTo(other.datacenter);
    return byDatacenter != 0 ? byDatacenter : rack.compareTo(other.rack);
  }

  @Override
  public String toString() {
    return datacenter + "/" + rack;
  }
}
