// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class GateTest {
  private final Gate gate = new Gate();
  private final AtomicInteger connecting = new AtomicInteger();

  @Test
  void whenAsManyConnectAsMayThenTheNextWaitsUntilOneLeaves() {
    for (int i = 0; i < Gate.MAX_CONNECTING + 1; i++) {
      gate.enter(connecting::incrementAndGet);
    }
    assertThat(connecting).hasValue(Gate.MAX_CONNECTING);
    gate.leave();
    assertThat(connecting).hasValue(Gate.MAX_CONNECTING + 1);
  }

  @Test
  void whenAllHaveLeftThenAsManyMayEnterAgain() {
    for (int i = 0; i < Gate.MAX_CONNECTING; i++) {
      gate.enter(() -> {});
    }
    for (int i = 0; i < Gate.MAX_CONNECTING; i++) {
      gate.leave();
    }
    for (int i = 0; i < Gate.MAX_CONNECTING + 1; i++) {
      gate.enter(connecting::incrementAndGet);
    }
    assertThat(connecting).hasValue(Gate.MAX_CONNECTING);
  }
}
