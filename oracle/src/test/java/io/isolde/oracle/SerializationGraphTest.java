// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static io.isolde.oracle.SerializationGraph.NOBODY;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.SerializationGraph.Committed;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The checker itself: it must be able to fail. */
class SerializationGraphTest {
  private static final long X = 1;
  private static final long Y = 2;

  @Test
  void whenTransactionsAreSerialThenThereIsNoCycle() {
    SerializationGraph graph =
        new SerializationGraph(
            List.of(
                new Committed(1, 0, 10, Map.of(X, NOBODY), Set.of(X, Y)),
                new Committed(2, 10, 20, Map.of(X, 1, Y, 1), Set.of(X))));
    assertThat(graph.hasCycle()).isFalse();
  }

  @Test
  void whenWritesAreSkewedThenTheCycleHasConsecutiveAntiDependencies() {
    SerializationGraph graph =
        new SerializationGraph(
            List.of(
                new Committed(1, 0, 10, Map.of(X, NOBODY), Set.of(Y)),
                new Committed(2, 0, 20, Map.of(Y, NOBODY), Set.of(X))));
    assertThat(graph.hasCycle()).isTrue();
    assertThat(graph.hasCycleWithoutConsecutiveAntiDependencies()).isFalse();
  }

  @Test
  void whenAnUpdateIsLostThenTheCycleHasOneAntiDependency() {
    SerializationGraph graph =
        new SerializationGraph(
            List.of(
                new Committed(1, 0, 10, Map.of(X, NOBODY), Set.of(X)),
                new Committed(2, 0, 20, Map.of(X, NOBODY), Set.of(X))));
    assertThat(graph.hasCycleWithoutConsecutiveAntiDependencies()).isTrue();
  }

  @Test
  void whenHalfOfACommitIsReadThenTheCycleHasOneAntiDependency() {
    SerializationGraph graph =
        new SerializationGraph(
            List.of(
                new Committed(1, 0, 10, Map.of(), Set.of(X, Y)),
                new Committed(2, 5, 5, Map.of(X, 1, Y, NOBODY), Set.of())));
    assertThat(graph.hasCycleWithoutConsecutiveAntiDependencies()).isTrue();
  }
}
