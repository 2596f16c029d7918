// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.Arrays;

/** Cassandra's consistency levels, as far as they differ in whose answers they wait for. */
public enum Level {
  ONE,
  TWO,
  THREE,
  QUORUM,
  ALL,
  LOCAL_ONE,
  LOCAL_QUORUM,
  EACH_QUORUM;

  /** What the level asks for with so many replicas in each datacenter. */
  public Requirement in(int... replicasByDatacenter) {
    int all = Arrays.stream(replicasByDatacenter).sum();
    return switch (this) {
      case ONE -> Requirement.of(1);
      case TWO -> Requirement.of(2);
      case THREE -> Requirement.of(3);
      case QUORUM -> Requirement.of(quorum(all));
      case ALL -> Requirement.of(all);
      case LOCAL_ONE -> new Requirement(Requirement.Kind.LOCAL, each(replicasByDatacenter, true));
      case LOCAL_QUORUM ->
          new Requirement(Requirement.Kind.LOCAL, each(replicasByDatacenter, false));
      case EACH_QUORUM -> new Requirement(Requirement.Kind.EACH, each(replicasByDatacenter, false));
    };
  }

  /**
   * Whether the level means something of its own with so many replicas: it can be met, and no
   * simpler one asks for the same.
   */
  public boolean isDistinct(int... replicasByDatacenter) {
    int all = Arrays.stream(replicasByDatacenter).sum();
    // A datacenter without replicas has nobody who could answer, nor anybody to wait for.
    boolean isSpread = Arrays.stream(replicasByDatacenter).filter(count -> count > 0).count() > 1;
    return switch (this) {
      case ONE -> all >= 1;
      case TWO -> all > 2 && quorum(all) != 2;
      case THREE -> all > 3 && quorum(all) != 3;
      case QUORUM -> all >= 2 && quorum(all) < all;
      case ALL -> all >= 2;
      case LOCAL_ONE, LOCAL_QUORUM, EACH_QUORUM -> isSpread;
    };
  }

  private static int quorum(int replicas) {
    return replicas / 2 + 1;
  }

  private static int[] each(int[] replicasByDatacenter, boolean isOne) {
    return Arrays.stream(replicasByDatacenter)
        .map(count -> count == 0 ? 0 : isOne ? 1 : quorum(count))
        .toArray();
  }
}
