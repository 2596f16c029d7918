// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.refusal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.cluster.ClusterException;
import io.isolde.system.SystemNode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A node with a bad isolde.yaml does not start, and its log says in a sentence why. */
class BadSettingsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "127.0.31.31 | transaction_max_idle | 10m | transaction_max_idle must not be longer than"
            + " transaction_max_age.",
        "127.0.31.32 | oracle | replicated | There is no setting named oracle; correct or remove its"
            + " line."
      })
  void whenASettingIsBadThenTheNodeDoesNotStart(
      String address, String setting, String value, String sentence) {
    SystemNode node =
        SystemNode.create("bad-settings", address, spec -> spec.withIsoldeSetting(setting, value));
    try (node) {
      assertThatThrownBy(() -> node.process().start())
          .isInstanceOfSatisfying(
              ClusterException.class,
              e -> assertThat(e.reason()).isEqualTo(ClusterException.Reason.NODE_DIED))
          .hasMessageContaining(sentence);
    }
  }
}
