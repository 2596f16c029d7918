// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import java.util.random.RandomGenerator;

/** N replicas that are all alike, in one datacenter, as in the paper's evaluation. */
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
    }
  }

  @Override
  public void drawRead(RandomGenerator random, Trial trial) {
    for (int i = 0; i < replicas; i++) {
      trial.requestMicros[i] = legs.request().drawMicros(random);
      trial.responseMicros[i] = legs.response().drawMicros(random);
    }
    Shuffle.fill(trial.preference, random);
  }

  @Override
  public long observations() {
    return legs.observations();
  }

  @Override
  public DelayModel atClockBound(int direction) {
    double shift = direction * legs.uncertaintyMicros();
    return new IndependentDelays(
        replicas,
        Legs.of(
            legs.write().shifted(shift),
            legs.ack().shifted(-shift),
            legs.request().shifted(-shift),
            legs.response().shifted(shift)));
  }
}
