// SPDX-License-Identifier: Apache-2.0
package io.isolde.install;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.cassandra.utils.FBUtilities;
import org.junit.jupiter.api.Test;

class TestedVersionTest {
  @Test
  void whenThisIsTheCassandraOfTheBuildThenThereIsNoWarning() {
    assertThat(TestedVersion.warning(FBUtilities.getReleaseVersionString())).isEmpty();
  }

  @Test
  void whenThisIsAnotherCassandraThenTheWarningNamesBoth() {
    assertThat(TestedVersion.warning("5.0.99"))
        .hasValueSatisfying(
            sentence ->
                assertThat(sentence)
                    .startsWith("This is Cassandra 5.0.99. Isolde was tested with 5.0."));
  }
}
