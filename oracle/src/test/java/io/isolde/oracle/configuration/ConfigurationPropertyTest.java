// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.configuration;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class ConfigurationPropertyTest {
  private static final int STEPS = 200;

  @Property(tries = 200)
  void whenReportsComeLateAndRepeatedThenNoOlderOneWinsAndTheHistoryIsTheDifference(
      @ForAll long seed) {
    new ReportedConfiguration(seed, UnaryOperator.identity()).run(STEPS);
  }

  @Test
  void whenALateLeaderIsTakenForANewOneThenThatIsFound() {
    assertFound(
        report ->
            report instanceof ConfigurationReport.NewLeader late
                ? new ConfigurationReport.NewLeader(late.group(), late.leader(), late.term() + 1)
                : report);
  }

  @Test
  void whenAnOlderProcessIsNotFencedThenThatIsFound() {
    AtomicLong clock = new AtomicLong();
    assertFound(
        report ->
            report instanceof ConfigurationReport.RegisterNode old
                ? new ConfigurationReport.RegisterNode(old.node(), 10_000 + clock.incrementAndGet())
                : report);
  }

  private static void assertFound(UnaryOperator<ConfigurationReport> mistake) {
    assertThatThrownBy(
            () -> {
              for (int seed = 0; seed < 50; seed++) {
                new ReportedConfiguration(seed, mistake).run(STEPS);
              }
            })
        .isInstanceOf(AssertionError.class);
  }
}
