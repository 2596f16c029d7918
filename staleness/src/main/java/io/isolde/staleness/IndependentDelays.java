// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.random.RandomGenerator;

/**
 * N replicas that are all alike, in one datacenter, as in the paper's evaluation. Each request has
 * a coordinator of its own, which is none of them.
 */
public final class IndependentDelays implements DelayModel {
  private final int replicas;
  private final Legs legs;

  public IndependentDelays(int replicas, Legs legs) {
    this.replicas = replicas;
    this.legs = legs;
  }

  @Override
  public int replicas() {
    return replicas;
  }

  @Override
  public int[] replicasByDatacenter() {
    return new int[] {replicas};
  }

  @Override
  public void drawRow(RandomGenerator random, Trial trial) {}

  @Override
  public void drawWrite(RandomGenerator random, Trial trial) {
    for (int i = 0; i < replicas; i++) {
      trial.writeMicros[i] = legs.write().drawMicros(random);
      trial.ackMicros[i] = legs.ack().drawMicros(random);
      trial.writeUncertaintyMicros[i] = legs.uncertaintyMicros();
    }
  }

  @Override
  public void drawRead(RandomGenerator random, Trial trial) {
    for (int i = 0; i < replicas; i++) {
      trial.requestMicros[i] = legs.request().drawMicros(random);
      trial.responseMicros[i] = legs.response().drawMicros(random);
      trial.readUncertaintyMicros[i] = legs.uncertaintyMicros();
    }
    Shuffle.fill(trial.preference, random);
  }

  @Override
  public long observations() {
    return legs.observations();
  }
}
