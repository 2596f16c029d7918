// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.scaling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;

/** Clusters whose throughput and latency can be computed by hand. */
class SimulationTest {
  private static final Costs FREE = new Costs(0, 0, 0, 0, 0);
  private static final double SECOND = 1_000_000;
  private static final long SEED = 7;

  private static MeasuredCosts costs(Costs leader, Costs follower, double busiestShare) {
    return new MeasuredCosts(leader, follower, busiestShare, 0, 0);
  }

  private static Simulation.Result run(Cluster cluster, MeasuredCosts costs, double nodeMicros) {
    return new Simulation(cluster, costs, 0, nodeMicros, SEED).run(SECOND / 2, SECOND);
  }

  @Test
  void whenOneClientWritesThenItsLatencyIsThatOfItsWaysAndWork() {
    MeasuredCosts costs = costs(new Costs(40, 30, 0, 0, 0), new Costs(20, 10, 0, 0, 0), 0);
    Simulation.Result result = run(Cluster.ofNodes(1, 1, 4), costs, 500);
    // Node 500; to the leader 100; commit 30; entry 40; follower 100, 30, 100; back 100; apply 200.
    assertThat(result.p50Millis()).isCloseTo(1.2, within(0.002));
    assertThat(result.perSecond()).isCloseTo(1000 / 1.2, within(2.0));
    assertThat(result.commitsPerEntry()).isCloseTo(1, within(0.01));
  }

  @Test
  void whenNodesAreBusyThenTheyAreTheBound() {
    Simulation.Result result = run(Cluster.ofNodes(3, 50, 2), costs(FREE, FREE, 0), 1_000);
    assertThat(result.perSecond()).isCloseTo(3 * 2 * 1_000, within(60.0));
    assertThat(result.nodeLoad()).isCloseTo(1, within(0.02));
    assertThat(result.leaderLoad()).isZero();
  }

  @Test
  void whenTheLeaderIsBusyThenItIsTheBound() {
    MeasuredCosts costs = costs(new Costs(0, 100, 0, 0, 0), FREE, 0);
    Simulation.Result result = run(Cluster.ofNodes(20, 50, 2), costs, 0);
    assertThat(result.perSecond()).isCloseTo(2 * 10_000, within(200.0));
    assertThat(result.leaderLoad()).isCloseTo(1, within(0.02));
  }

  @Test
  void whenOneThreadIsBusyThenMoreCoresDoNotHelp() {
    MeasuredCosts costs = costs(new Costs(0, 100, 0, 0, 0), FREE, 0.5);
    Simulation.Result result = run(Cluster.ofNodes(20, 50, 16), costs, 0);
    assertThat(result.perSecond()).isCloseTo(2 * 10_000, within(400.0));
    assertThat(result.busiestThreadLoad()).isCloseTo(1, within(0.02));
  }

  @Test
  void whenAllWriteOneRowThenMostAreAborted() {
    Cluster hot = Cluster.ofNodes(10, 10, 4).interactive(1);
    Simulation.Result result = run(hot, costs(FREE, FREE, 0), 100);
    Simulation.Result spread = run(hot.interactive(1_000_000), costs(FREE, FREE, 0), 100);
    assertThat(result.abortedShare()).isGreaterThan(0.5);
    assertThat(result.perSecond()).isPositive();
    assertThat(spread.abortedShare()).isLessThan(0.01);
  }

  @Test
  void whenRegionsAreFarThenACommitWaitsForThem() {
    Cluster far = Cluster.ofNodes(3, 1, 4).withRegions(3, 10_000, true);
    Simulation.Result result = run(far, costs(FREE, FREE, 0), 0);
    // One node is with the leader: 0.2 + 20 + 20; the others: 20 + 20 + 20.
    assertThat(result.p50Millis()).isBetween(40.0, 61.0);
    assertThat(result.p99Millis()).isCloseTo(60, within(0.5));
  }

  @Test
  void whenTheSeedIsTheSameThenSoIsAll() {
    Cluster cluster = Cluster.ofNodes(10, 10, 4).interactive(100);
    MeasuredCosts costs = costs(new Costs(40, 30, 1, 1, 2), new Costs(20, 10, 1, 1, 0), 0.5);
    assertThat(run(cluster, costs, 500)).isEqualTo(run(cluster, costs, 500));
  }
}
