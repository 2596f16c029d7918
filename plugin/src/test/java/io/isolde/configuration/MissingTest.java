// SPDX-License-Identifier: Apache-2.0
package io.isolde.configuration;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class MissingTest {
  private static final UUID ONE = new UUID(1, 1);
  private static final UUID OTHER = new UUID(1, 2);

  private final Missing missing = new Missing();

  @Test
  void whenAnEntryIsMissingForLongEnoughThenItIsGone() {
    assertThat(missing.gone(Set.of(ONE), -5)).isEmpty();
    assertThat(missing.gone(Set.of(ONE, OTHER), Missing.PATIENCE_NANOS - 6)).isEmpty();
    assertThat(missing.gone(Set.of(ONE, OTHER), Missing.PATIENCE_NANOS - 5)).containsExactly(ONE);
    assertThat(missing.isEmpty()).isFalse();
  }

  @Test
  void whenAnEntryIsThereAgainThenItsTimeBeginsAnew() {
    assertThat(missing.gone(Set.of(ONE), 0)).isEmpty();
    assertThat(missing.gone(Set.of(), 1)).isEmpty();
    assertThat(missing.isEmpty()).isTrue();
    assertThat(missing.gone(Set.of(ONE), Missing.PATIENCE_NANOS)).isEmpty();
  }

  @Test
  void whenOthersLookForWhatIsGoneThenNothingIsRemembered() {
    assertThat(missing.gone(Set.of(ONE), 0)).isEmpty();
    missing.forget();
    assertThat(missing.gone(Set.of(ONE), Missing.PATIENCE_NANOS)).isEmpty();
  }
}
