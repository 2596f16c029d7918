// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.isolde.staleness.MeasuredLegs.Route;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ClusterDelaysTest {
  private static final Place EU = new Place("eu", "r1");
  private static final Place US = new Place("us", "r1");
  private static final Legs NEAR = symmetric(100);
  private static final Legs FAR = symmetric(40_000);
  private static final MeasuredLegs LEGS =
      new MeasuredLegs(
          Map.of(
              new Route(EU, EU),
              NEAR,
              new Route(US, US),
              NEAR,
              new Route(EU, US),
              FAR,
              new Route(US, EU),
              FAR),
          Delay.constant(50));

  /** Two in each of two datacenters, all of them replicas. */
  private static final Topology TWO_CENTERS =
      new Topology(List.of(EU, EU, US, US), List.of(new int[] {0, 1, 2, 3}));

  private static final Topology WITHOUT_ASIA =
      new Topology(
          List.of(new Place("asia", "r1"), EU, EU, US, US), List.of(new int[] {1, 2, 3, 4}));

  private static Legs symmetric(double micros) {
    Delay delay = Delay.constant(micros);
    return Legs.of(delay, delay, delay, delay);
  }

  private static Predictor predictor(DelayModel model) {
    return new Predictor(model, ReadFanOut.PREFERRED, 20_000, Randoms.seeded(5));
  }

  @Test
  void whenTheReaderIsElsewhereThenItWaitsForTheWay() {
    Predictor predictor =
        predictor(new ClusterDelays(TWO_CENTERS, LEGS, CoordinatorChoice.REPLICA));
    Prediction local = predictor.predict(new Setting(Level.LOCAL_ONE, Level.LOCAL_ONE));
    // Half of the readers are in the writer's datacenter.
    assertThat(local.freshAfter(1_000).value()).isCloseTo(0.5, within(0.02));
    assertThat(local.freshAfter(39_999).value()).isCloseTo(0.5, within(0.02));
    assertThat(local.freshAfter(40_000).value()).isEqualTo(1);
  }

  @Test
  void whenAllClientsAreInOneDatacenterThenLocalQuorumsAreStrong() {
    DelayModel all = new ClusterDelays(TWO_CENTERS, LEGS, CoordinatorChoice.REPLICA);
    DelayModel eu = new ClusterDelays(TWO_CENTERS, LEGS, CoordinatorChoice.REPLICA, "eu");
    Setting local = new Setting(Level.LOCAL_QUORUM, Level.LOCAL_QUORUM);
    assertThat(predictor(all).predict(local).isStrong()).isFalse();
    assertThat(predictor(eu).predict(local).isStrong()).isTrue();
    assertThat(predictor(eu).versions(local).simulated(1, 0).after(0).value()).isEqualTo(1);
    assertThat(predictor(eu).predict(local).writeMicros(0.99).value()).isEqualTo(200);
  }

  @Test
  void whenEachDatacenterIsWrittenThenLocalQuorumReadsAreStrongEverywhere() {
    Predictor predictor = predictor(new ClusterDelays(TWO_CENTERS, LEGS, CoordinatorChoice.ANY));
    Setting each = new Setting(Level.LOCAL_QUORUM, Level.EACH_QUORUM);
    assertThat(predictor.predict(each).isStrong()).isTrue();
    assertThat(predictor.versions(each).simulated(1, 0).after(0).value()).isEqualTo(1);
    assertThat(predictor.predict(each).writeMicros(0.5).value()).isEqualTo(80_000);
    assertThat(predictor.predict(each).readMicros(0.5).value()).isEqualTo(200);
  }

  @Test
  void whenTheCoordinatorIsAReplicaThenItAnswersItself() {
    Predictor predictor =
        predictor(new ClusterDelays(TWO_CENTERS, LEGS, CoordinatorChoice.REPLICA));
    Prediction one = predictor.predict(new Setting(Level.ONE, Level.ONE));
    assertThat(one.writeMicros(0.99).value()).isZero();
    assertThat(one.readMicros(0.99).value()).isEqualTo(50);
    // A quarter reads where it was written, a quarter next to it, half far away.
    assertThat(one.freshAfter(0).value()).isCloseTo(0.25, within(0.02));
    assertThat(one.freshAfter(100).value()).isCloseTo(0.5, within(0.02));
  }

  @Test
  void whenARouteWasNotMeasuredThenTheMostSimilarOneStandsIn() {
    Place rack2 = new Place("eu", "r2");
    Place asia = new Place("asia", "r1");
    assertThat(LEGS.between(new Place("asia", "r9"), new Place("asia", "r9"))).isEqualTo(NEAR);
    assertThat(LEGS.between(asia, US)).isEqualTo(FAR);
    MeasuredLegs oneRack = new MeasuredLegs(Map.of(new Route(EU, EU), NEAR), Delay.NONE);
    assertThat(oneRack.between(EU, rack2)).isEqualTo(NEAR);
  }

  @Test
  void whenClocksAreUncertainThenTheIntervalOfTwoCoordinatorsIsWider() {
    Legs sure = symmetric(1_000);
    Legs unsure = new Legs(sure.write(), sure.ack(), sure.request(), sure.response(), 500);
    Topology three = new Topology(List.of(EU, EU, EU), List.of(new int[] {0, 1, 2}));
    Setting one = new Setting(Level.ONE, Level.ONE);
    Estimate[] estimates =
        Stream.of(sure, unsure)
            .map(legs -> new MeasuredLegs(Map.of(new Route(EU, EU), legs), Delay.NONE))
            .map(legs -> new ClusterDelays(three, legs, CoordinatorChoice.REPLICA))
            .map(model -> predictor(model).predict(one).freshAfter(700))
            .toArray(Estimate[]::new);
    assertThat(estimates[1].value()).isEqualTo(estimates[0].value());
    assertThat(estimates[1].high()).isEqualTo(1);
    assertThat(estimates[0].high()).isLessThan(0.4);
  }

  @Test
  void whenOneCoordinatorWritesAndReadsThenItsClockDoesNotMatter() {
    Legs sure = symmetric(1_000);
    Legs unsure = new Legs(sure.write(), sure.ack(), sure.request(), sure.response(), 500);
    // Node 0 alone coordinates; its only replica is node 1.
    Topology topology = new Topology(List.of(EU, EU), List.of(new int[] {1}));
    MeasuredLegs legs = new MeasuredLegs(Map.of(new Route(EU, EU), unsure), Delay.NONE);
    DelayModel model = new ClusterDelays(topology, legs, CoordinatorChoice.ANY);
    Trial trial = new Trial(1);
    var random = Randoms.seeded(1).get();
    boolean isSeen = false;
    for (int i = 0; i < 100; i++) {
      model.drawRow(random, trial);
      model.drawWrite(random, trial);
      model.drawRead(random, trial);
      if (trial.requestMicros[0] > 0) {
        boolean isOne = trial.writerNode == trial.readerNode;
        boolean isWrittenElsewhere = trial.writeMicros[0] == 0;
        double expected = isWrittenElsewhere ? -1_000 + 500 : isOne ? 0 : 1_000;
        assertThat(trial.missingMicros(0, 1)).isEqualTo(expected);
        isSeen |= isOne;
      }
    }
    assertThat(isSeen).isTrue();
  }

  @Test
  @Timeout(10)
  void whenARowHasNoReplicaInTheClientsDatacenterThenItIsReadThroughANodeThere() {
    // SimpleStrategy with one replica: the first row is near, the second far.
    Topology simple = new Topology(List.of(EU, US), List.of(new int[] {0}, new int[] {1}));
    DelayModel eu = new ClusterDelays(simple, LEGS, CoordinatorChoice.REPLICA, "eu");
    Prediction one = predictor(eu).predict(new Setting(Level.ONE, Level.ONE));
    assertThat(one.readMicros(0.4).value()).isEqualTo(50);
    assertThat(one.readMicros(0.6).value()).isEqualTo(80_000);
    DelayModel us = new ClusterDelays(simple, LEGS, CoordinatorChoice.REPLICA, "us");
    assertThat(predictor(us).predict(new Setting(Level.ONE, Level.ONE)).isStrong()).isTrue();
  }

  @Test
  void whenRowsDifferInTheirLocalReplicasThenLocalLevelsAreNotPredicted() {
    Topology simple =
        new Topology(List.of(EU, EU, US, US), List.of(new int[] {0, 1, 2}, new int[] {1, 2, 3}));
    DelayModel us = new ClusterDelays(simple, LEGS, CoordinatorChoice.REPLICA, "us");
    List<Setting> settings = Setting.all(us.replicasByDatacenter());
    assertThat(settings).extracting(Setting::read).containsOnly(Level.ONE, Level.QUORUM, Level.ALL);
    assertThat(predictor(us).predict(settings).values())
        .extracting(Prediction::isStrong)
        .containsExactly(false, false, true, false, true, true, true, true, true);
  }

  @Test
  void whenNoRowHasAReplicaInTheClientsDatacenterThenASentenceSaysSo() {
    for (CoordinatorChoice choice : CoordinatorChoice.values()) {
      assertThatThrownBy(() -> new ClusterDelays(WITHOUT_ASIA, LEGS, choice, "asia"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage(
              "No node in datacenter asia has a replica; those that have one are in eu, us.");
    }
  }

  @Test
  void whenADatacenterHasNoReplicaThenTheOthersHaveLocalLevelsAllTheSame() {
    DelayModel model = new ClusterDelays(WITHOUT_ASIA, LEGS, CoordinatorChoice.ANY, "eu");
    assertThat(Setting.all(model.replicasByDatacenter()))
        .contains(new Setting(Level.LOCAL_QUORUM, Level.EACH_QUORUM));
    Setting local = new Setting(Level.LOCAL_QUORUM, Level.LOCAL_QUORUM);
    assertThat(predictor(model).predict(local).isStrong()).isTrue();
  }
}
