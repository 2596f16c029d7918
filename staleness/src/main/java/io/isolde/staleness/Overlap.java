// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.Arrays;

/** Whether every read must meet every write. */
final class Overlap {
  private Overlap() {}

  /**
   * Whether any replicas that satisfy the read have one in common with any that satisfy the write:
   * R + W > N, of one datacenter or of all. This must hold in whichever of the model's datacenters
   * their coordinators are.
   */
  static boolean isCertain(Quorums quorums, DelayModel model) {
    int[] replicasByDatacenter = model.replicasByDatacenter();
    for (int reader = 0; reader < replicasByDatacenter.length; reader++) {
      for (int writer = 0; writer < replicasByDatacenter.length; writer++) {
        if (model.hasCoordinatorsIn(reader)
            && model.hasCoordinatorsIn(writer)
            && !isCertain(quorums, replicasByDatacenter, reader, writer)) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean isCertain(Quorums quorums, int[] counts, int reader, int writer) {
    int all = Arrays.stream(counts).sum();
    for (int i = 0; i < counts.length; i++) {
      if (quorums.read().leastIn(i, counts, reader) + quorums.write().leastIn(i, counts, writer)
          > counts[i]) {
        return true;
      }
    }
    return quorums.read().needed(reader) + quorums.write().needed(writer) > all;
  }
}
