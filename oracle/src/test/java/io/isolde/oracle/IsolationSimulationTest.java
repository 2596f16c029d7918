// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static io.isolde.oracle.IsolationLevel.SERIALIZABLE;
import static io.isolde.oracle.IsolationLevel.SNAPSHOT;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.SerializationGraph.Committed;
import java.util.Collections;
import java.util.List;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** A failing run is repeated with the seed that jqwik prints. */
class IsolationSimulationTest {
  private static final int PLENTY = 1000;

  @Property(tries = 300)
  void whenAllAreSerializableThenTheirHistoryIs(@ForAll long seed) {
    assertSerializable(new Simulation(seed, SERIALIZABLE, PLENTY).run());
  }

  @Property(tries = 300)
  void whenRowsAreForgottenThenSerializableStillIs(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 12) int maxRows) {
    assertSerializable(new Simulation(seed, SERIALIZABLE, maxRows).run());
  }

  @Property(tries = 300)
  void whenAllReadSnapshotsThenNoUpdateIsLost(@ForAll long seed) {
    assertSnapshotIsolated(new Simulation(seed, SNAPSHOT, PLENTY).run());
  }

  @Property(tries = 300)
  void whenRowsAreForgottenThenStillNoUpdateIsLost(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 12) int maxRows) {
    assertSnapshotIsolated(new Simulation(seed, SNAPSHOT, maxRows).run());
  }

  @Property(tries = 300)
  void whenWritesDependOnConditionsThenNobodyHasChangedWhatTheyRead(
      @ForAll long seed, @ForAll IsolationLevel level) {
    assertThat(changed(new Simulation(seed, level, PLENTY))).isEmpty();
  }

  @Test
  void whenConditionsAreNotCheckedThenThatIsNoticed() {
    assertThat(LongStream.range(0, 100))
        .anyMatch(
            seed -> !changed(new Simulation(seed, SNAPSHOT, PLENTY).withoutConditions()).isEmpty());
  }

  /** The commits whose conditions read what others then changed. */
  private static List<Simulation.Unchanged> changed(Simulation simulation) {
    List<Committed> history = simulation.run();
    return simulation.unchanged().stream()
        .filter(
            one ->
                history.stream()
                    .anyMatch(
                        other ->
                            one.start() < other.commit()
                                && other.commit() < one.commit()
                                && !Collections.disjoint(one.rows(), other.writes())))
        .toList();
  }

  @Test
  void whenAllReadSnapshotsThenWritesCanBeSkewed() {
    assertThat(LongStream.range(0, 100))
        .anyMatch(
            seed ->
                new SerializationGraph(new Simulation(seed, SNAPSHOT, PLENTY).run()).hasCycle());
  }

  @Test
  void whenSimulatedThenEveryKindOfDecisionOccurs() {
    int maxRows = 6;
    assertThat(statistics(SERIALIZABLE, maxRows))
        .anyMatch(statistics -> statistics.committed() > 20)
        .anyMatch(statistics -> statistics.readWriteAborts() > 0)
        .anyMatch(statistics -> statistics.forgottenAborts() > 0)
        .anyMatch(statistics -> statistics.refused() > 0);
    assertThat(statistics(SNAPSHOT, maxRows))
        .anyMatch(statistics -> statistics.committed() > 20)
        .anyMatch(statistics -> statistics.writeWriteAborts() > 0)
        .anyMatch(statistics -> statistics.forgottenAborts() > 0)
        .anyMatch(statistics -> statistics.refused() > 0);
  }

  private static List<OracleStatistics> statistics(IsolationLevel level, int maxRows) {
    return LongStream.range(0, 30)
        .mapToObj(
            seed -> {
              Simulation simulation = new Simulation(seed, level, maxRows);
              simulation.run();
              return simulation.statistics();
            })
        .toList();
  }

  private static void assertSerializable(List<Committed> history) {
    assertThat(new SerializationGraph(history).hasCycle()).as("cycle in %s", history).isFalse();
  }

  private static void assertSnapshotIsolated(List<Committed> history) {
    assertThat(new SerializationGraph(history).hasCycleWithoutConsecutiveAntiDependencies())
        .as("forbidden cycle in %s", history)
        .isFalse();
    for (Committed one : history) {
      for (Committed other : history) {
        assertThat(
                one.id() != other.id() && areConcurrent(one, other) && haveCommonWrites(one, other))
            .as("the first committer wins: %s, %s", one, other)
            .isFalse();
      }
    }
  }

  private static boolean areConcurrent(Committed one, Committed other) {
    return one.start() < other.commit() && other.start() < one.commit();
  }

  private static boolean haveCommonWrites(Committed one, Committed other) {
    return !Collections.disjoint(one.writes(), other.writes());
  }
}
