// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class OracleConfigTest {
  @Test
  void whenAnOptionIsChangedThenTheOthersKeepTheirDefaults() {
    OracleConfig config =
        OracleConfig.defaults()
            .withMaxRows(1)
            .withMaxPendingCommits(2)
            .withMaxOutcomes(3)
            .withOutcomeRetentionMicros(4);
    assertThat(config).isEqualTo(new OracleConfig(1, 2, 3, 4, 0));
    assertThat(OracleConfig.defaults().withMaxRows(1).maxOutcomes())
        .isEqualTo(OracleConfig.defaults().maxOutcomes());
  }

  @Test
  void whenABoundIsNotPositiveThenTheMessageNamesIt() {
    OracleConfig config = OracleConfig.defaults();
    assertThatThrownBy(() -> config.withMaxRows(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("The option maxRows is 0, but it must be at least 1.");
    assertThatThrownBy(() -> config.withMaxPendingCommits(-1))
        .hasMessageContaining("maxPendingCommits");
    assertThatThrownBy(() -> config.withMaxOutcomes(0)).hasMessageContaining("maxOutcomes");
    assertThatThrownBy(() -> config.withOutcomeRetentionMicros(0))
        .hasMessageContaining("outcomeRetentionMicros");
  }

  @Test
  void whenMoreIsAskedForThanFitsThenItIsRefused() {
    assertThatThrownBy(() -> OracleConfig.defaults().withMaxRows(Integer.MAX_VALUE))
        .hasMessageEndingWith("at most 268435456 fit.");
    assertThatThrownBy(() -> OracleConfig.defaults().withMaxOutcomes(Integer.MAX_VALUE))
        .hasMessageContaining("maxOutcomes");
  }
}
