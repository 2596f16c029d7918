// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.torture.Cut.Way;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class CutTest {
  private static final int NODES = 3;

  @Test
  void whenANodeIsNotHeardThenOnlyWhatItSendsIsLost() {
    Cut cut = Cut.of(FaultKind.MUTE, 2, NODES);
    assertThat(cut.name()).isEqualTo("node 2 is not heard");
    assertThat(cut.ways()).containsExactlyInAnyOrder(new Way(2, 1), new Way(2, 3));
  }

  @Test
  void whenANodeDoesNotHearThenOnlyWhatIsSentToItIsLost() {
    Cut cut = Cut.of(FaultKind.DEAF, 2, NODES);
    assertThat(cut.name()).isEqualTo("node 2 does not hear");
    assertThat(cut.ways()).containsExactlyInAnyOrder(new Way(1, 2), new Way(3, 2));
  }

  @Test
  void whenANodeIsCutOffThenNothingComesOrGoes() {
    assertThat(Cut.of(FaultKind.PARTITION, 2, NODES).ways())
        .containsExactlyInAnyOrder(new Way(2, 1), new Way(2, 3), new Way(1, 2), new Way(3, 2));
  }

  @Test
  void whenAFaultIsACutThenItNeedsANetworkAndNoOtherFaultIsOne() {
    for (FaultKind kind : FaultKind.values()) {
      assertThat(options(kind).needsNetwork()).isEqualTo(Cut.isMeantBy(kind));
      if (!Cut.isMeantBy(kind)) {
        assertThatThrownBy(() -> Cut.of(kind, 1, NODES)).hasMessageContaining(kind.name());
      }
    }
  }

  private static TortureOptions options(FaultKind kind) {
    return new TortureOptions(
        Duration.ofMinutes(1),
        1,
        NODES,
        1,
        List.of(kind),
        512,
        WorkloadKind.STRONG,
        CommitLogSync.BATCH);
  }
}
