// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class SequencesTest {
  @Test
  void whenAnOldNumberHasNoAnswerThenTheOneInItsPlaceIsPassedOver() {
    Sequences sequences = new Sequences();
    assertThat(sequences.take()).isEqualTo(OptionalInt.of(0));
    for (int i = 1; i < Sequences.WINDOW; i++) {
      sequences.done(sequences.take().getAsInt());
    }
    assertThat(sequences.take()).isEqualTo(OptionalInt.of(Sequences.WINDOW + 1));
    sequences.done(0);
    sequences.done(Sequences.WINDOW + 1);
    for (int i = 2; i < Sequences.WINDOW; i++) {
      sequences.done(sequences.take().getAsInt());
    }
    assertThat(sequences.take()).isEqualTo(OptionalInt.of(2 * Sequences.WINDOW));
  }

  @Test
  void whenNothingHasAnAnswerThenNoMoreIsGiven() {
    Sequences sequences = new Sequences();
    for (int i = 0; i < Sequences.WINDOW; i++) {
      assertThat(sequences.take()).isPresent();
    }
    assertThat(sequences.take()).isEmpty();
  }
}
