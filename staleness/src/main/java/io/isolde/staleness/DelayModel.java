// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.random.RandomGenerator;

/**
 * Where the delays of writes and reads come from. A row is drawn first, then any number of writes
 * and reads of it.
 */
public interface DelayModel {

  /** N: the replicas of a row, in all datacenters. */
  int replicas();

  /** How many of them are in each datacenter. */
  int[] replicasByDatacenter();

  /** Whether writers or readers use coordinators in a datacenter, by its number. */
  default boolean hasCoordinatorsIn(int datacenter) {
    return replicasByDatacenter()[datacenter] > 0;
  }

  /** Chooses a row: fills in which datacenters its replicas are in. */
  void drawRow(RandomGenerator random, Trial trial);

  /** Draws a write of that row: fills in W and A, their uncertainty, and the writer's place. */
  void drawWrite(RandomGenerator random, Trial trial);

  /** Draws a read: fills in R and S, their uncertainty, the preference and the reader's place. */
  void drawRead(RandomGenerator random, Trial trial);

  /** How many observations stand behind the least known delay; {@link Delay#KNOWN} if none. */
  long observations();
}
