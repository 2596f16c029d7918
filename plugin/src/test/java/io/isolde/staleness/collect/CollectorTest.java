// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness.collect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.isolde.staleness.Delay;
import io.isolde.staleness.Place;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.junit.jupiter.api.Test;

/** A coordinator and a replica whose clocks have nothing to do with each other. */
class CollectorTest {
  private static final Place HERE = new Place("eu", "r1");
  private static final Place THERE = new Place("us", "r2");
  private static final String TABLE = "shop.orders";
  private static final long SKEW_NANOS = 7_000_000_000_000L;
  private static final long HALF_LIFE_MILLIS = 1_000_000_000;

  private final RandomGenerator random = RandomGeneratorFactory.of("L64X128MixRandom").create(17);
  private final Set<String> existing = new HashSet<>(Set.of(TABLE, "a.a", "b.b", "c.c"));
  private long now = 1_000_000;

  private DelayBook book(int tables) {
    return new DelayBook(HALF_LIFE_MILLIS, tables, () -> now / 1_000_000, existing::contains);
  }

  private Collector coordinator(DelayBook book, int oneIn) {
    return new Collector(oneIn, book, HERE, peer -> THERE, () -> now);
  }

  private Collector replica(DelayBook book, int oneIn) {
    return new Collector(oneIn, book, THERE, peer -> HERE, () -> now + SKEW_NANOS);
  }

  private void pass(Delay delay) {
    now += Math.round(1e3 * delay.drawMicros(random));
  }

  /** One request and its answer. */
  private boolean exchange(
      Collector coordinator, Collector replica, long id, boolean isWrite, Delay[] delays) {
    coordinator.requestSent(id, TABLE, isWrite);
    pass(delays[0]);
    replica.requestArrived(id, "coordinator", TABLE, isWrite);
    pass(delays[1]);
    AnswerStamp stamp = replica.answerSent(id, "coordinator");
    pass(delays[2]);
    if (stamp != null) {
      coordinator.answerArrived(id, "replica", AnswerStamp.of(stamp.toParameter()));
    }
    now += 1_000_000;
    return stamp != null;
  }

  @Test
  void whenDelaysAreInjectedThenTheyAreFoundWithinTheClocksUncertainty() {
    DelayBook book = book(10);
    Collector coordinator = coordinator(book, 1);
    Collector replica = replica(book(10), 1);
    Delay there = Delay.constant(500).then(Delay.exponential(4_000));
    Delay work = Delay.constant(300);
    Delay back = Delay.constant(200).then(Delay.exponential(1_000));
    for (int id = 1; id <= 4_000; id++) {
      exchange(coordinator, replica, id, id % 2 == 0, new Delay[] {there, work, back});
    }
    Map<Leg, SeenLeg> legs = book.seen().get(TABLE).get(THERE);
    double uncertainty = legs.get(Leg.WRITE).uncertaintyMicros();
    // The shortest ways are 500 and 200 us, so nobody can know the offset better than by 350 us.
    assertThat(uncertainty).isBetween(300.0, 500.0);
    double median = Math.log(2);
    double error = uncertainty + 150;
    assertThat(legs.get(Leg.WRITE).p50Micros())
        .isCloseTo(500 + 4_000 * median + 300, within(error));
    assertThat(legs.get(Leg.ACK).p50Micros()).isCloseTo(200 + 1_000 * median, within(error));
    assertThat(legs.get(Leg.REQUEST).p50Micros()).isCloseTo(500 + 4_000 * median, within(error));
    assertThat(legs.get(Leg.RESPONSE).p50Micros())
        .isCloseTo(300 + 200 + 1_000 * median, within(error));
    // What the clocks' offset takes from one way it gives to the other.
    assertThat(legs.get(Leg.WRITE).p50Micros() + legs.get(Leg.ACK).p50Micros())
        .isCloseTo(1_000 + 5_000 * median, within(300.0));
  }

  @Test
  void whenAReplicaAnswersReadsThenItKnowsHowLongItsOwnTake() {
    DelayBook book = book(10);
    Collector coordinator = coordinator(book(10), 1);
    Collector replica = replica(book, 1);
    Delay work = Delay.constant(700);
    for (int id = 1; id <= 100; id++) {
      exchange(coordinator, replica, id, false, new Delay[] {Delay.NONE, work, Delay.NONE});
    }
    SeenLeg own = book.seen().get(TABLE).get(THERE).get(Leg.LOCAL_READ);
    assertThat(own.observations()).isEqualTo(100);
    assertThat(own.p50Micros()).isCloseTo(700, within(10.0));
  }

  @Test
  void whenRatesDifferThenTheSparserSampleIsPartOfTheOther() {
    Sampling sparse = new Sampling(64);
    Sampling dense = new Sampling(8);
    int sampled = 0;
    for (long id = 1; id <= 640_000; id++) {
      if (sparse.includes(id)) {
        sampled++;
        assertThat(dense.includes(id)).isTrue();
      }
      assertThat(new Sampling(1).includes(id)).isTrue();
    }
    assertThat(sampled).isCloseTo(10_000, within(500));
  }

  @Test
  void whenTheAnswerWasNotExpectedThenNothingIsCounted() {
    DelayBook book = book(10);
    Collector coordinator = coordinator(book, 1);
    for (int id = 1; id < 100; id++) {
      coordinator.answerArrived(id, "replica", new AnswerStamp(1, 2));
    }
    assertThat(replica(book, 1).answerSent(5, "coordinator")).isNull();
    assertThat(book.seen()).isEmpty();
  }

  @Test
  void whenThereAreTooManyTablesThenTheFirstStay() {
    DelayBook book = book(2);
    PeerClock.Ways ways = new PeerClock.Ways(10, 20, 1);
    for (String table : new String[] {"a.a", "b.b", "c.c", "a.a"}) {
      book.record(table, THERE, true, ways);
    }
    assertThat(book.seen().keySet()).containsExactly("a.a", "b.b");
    assertThat(book.leftOut()).isEqualTo(1);
    assertThat(book.seen().get("a.a").get(THERE).get(Leg.WRITE).observations()).isEqualTo(2);
  }

  @Test
  void whenTablesAreDroppedThenTheyMakeRoomForOthers() {
    DelayBook book = book(1);
    PeerClock.Ways ways = new PeerClock.Ways(10, 20, 1);
    book.record("a.a", THERE, true, ways);
    book.record("b.b", THERE, true, ways);
    existing.remove("a.a");
    // It has just looked, and doesn't for each message.
    book.record("b.b", THERE, true, ways);
    assertThat(book.leftOut()).isEqualTo(2);
    now += 1_000_000_000;
    book.record("b.b", THERE, true, ways);
    assertThat(book.leftOut()).isEqualTo(2);
    assertThat(book.seen().keySet()).containsExactly("b.b");
    existing.remove("b.b");
    assertThat(book.seen()).isEmpty();
  }

  @Test
  void whenThereAreTooManyRacksThenFurtherOnesAreLeftOut() {
    DelayBook book = book(1);
    for (int rack = 0; rack < 65; rack++) {
      Place place = new Place("eu", "r" + rack);
      book.record("a.a", place, true, new PeerClock.Ways(10, 20, 1));
    }
    assertThat(book.seen().get("a.a")).hasSize(64).doesNotContainKey(new Place("eu", "r64"));
    assertThat(book.leftOut()).isEqualTo(1);
  }

  @Test
  void whenOnlyWritesWereSeenThenReadsAreTakenForMessagesAsLongAsAcknowledgements() {
    DelayBook book = book(2);
    for (int i = 0; i < 100; i++) {
      book.record("a.a", THERE, true, new PeerClock.Ways(900, 50, 1));
    }
    var legs = book.legs("a.a", HERE).orElseThrow().between(HERE, THERE);
    assertThat(legs.write().drawMicros(random)).isCloseTo(900, within(10.0));
    assertThat(legs.request().drawMicros(random)).isCloseTo(50, within(2.0));
    assertThat(book.legs("b.b", HERE)).isEmpty();
  }
}
