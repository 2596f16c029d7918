// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.bench.kit.ContextSwitches.Count;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ContextSwitchesTest {

  @Test
  void whenThreadsComeAndGoThenOnlyWhatIsKnownOfThemCounts() {
    Count before = new Count(Map.of("stays", 10L, "ends", 100L));
    Count after = new Count(Map.of("stays", 17L, "begins", 5L));
    assertThat(after.since(before)).isEqualTo(12);
  }

  @Test
  void whenAThreadSleepsAgainAndAgainThenItGivesUpItsProcessorAsOften() throws Exception {
    long pid = ProcessHandle.current().pid();
    Count before = ContextSwitches.of(pid);
    for (int i = 0; i < 20; i++) {
      Thread.sleep(1);
    }
    assertThat(ContextSwitches.of(pid).since(before)).isGreaterThanOrEqualTo(20);
  }

  @Test
  void whenThereIsNoSuchProcessThenNothingIsCounted() {
    assertThat(ContextSwitches.of(Long.MAX_VALUE).byThread()).isEmpty();
  }
}
