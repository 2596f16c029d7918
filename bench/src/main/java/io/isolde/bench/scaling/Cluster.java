// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.scaling;

/** A cluster to simulate. */
record Cluster(Machines machines, Regions regions, Work work) {
  private static final double NEAR_MICROS = 100;

  /**
   * What there is.
   *
   * @param nodes that coordinate transactions; each is at home in one of the regions, in turn
   * @param inFlightPerNode clients of a node, each with one transaction at a time
   * @param cores of each node, and of each member of the oracle, which has a machine of its own
   * @param members of the oracle, an odd number
   */
  record Machines(int nodes, int inFlightPerNode, int cores, int members) {
    Machines {
      if (members % 2 == 0 || nodes < 1) {
        throw new IllegalArgumentException("No such cluster can be simulated.");
      }
    }
  }

  /**
   * Where they are.
   *
   * @param nearMicros from one node to another of its region, one way
   * @param farMicros from one region to another, one way
   * @param areMembersSpread whether members are in all regions; else they are in the first
   */
  record Regions(int count, double nearMicros, double farMicros, boolean areMembersSpread) {}

  /**
   * What clients do.
   *
   * @param isInteractive whether a transaction asks for its start, and reads before it commits
   * @param rows that a transaction writes
   * @param bytes of its writes that go through the log
   * @param hotRows of which each transaction writes one; 0 for rows that nobody else writes
   */
  record Work(boolean isInteractive, int rows, int bytes, int hotRows) {}

  /** One region, three members, updates of one row of 1 KiB. */
  static Cluster ofNodes(int nodes, int inFlightPerNode, int cores) {
    return new Cluster(
        new Machines(nodes, inFlightPerNode, cores, 3),
        new Regions(1, NEAR_MICROS, NEAR_MICROS, false),
        new Work(false, 1, 1024, 0));
  }

  Cluster withRegions(int count, double micros, boolean areMembersInAll) {
    return new Cluster(machines, new Regions(count, NEAR_MICROS, micros, areMembersInAll), work);
  }

  /** Transactions that read two rows and write them, one of them hot. */
  Cluster interactive(int hot) {
    return new Cluster(machines, regions, new Work(true, 2, 2 * 1024, hot));
  }

  Cluster withBytes(int count) {
    return new Cluster(
        machines, regions, new Work(work.isInteractive, work.rows, count, work.hotRows));
  }

  int regionOfNode(int node) {
    return node % regions.count;
  }

  /** The first member leads. */
  int regionOfMember(int member) {
    return regions.areMembersSpread ? member % regions.count : 0;
  }

  /** From one region to another, one way. */
  double micros(int fromRegion, int toRegion) {
    return fromRegion == toRegion ? regions.nearMicros : regions.farMicros;
  }
}
