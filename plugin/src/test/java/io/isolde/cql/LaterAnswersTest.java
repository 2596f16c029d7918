// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which texts only start what is answered later. */
class LaterAnswersTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "COMMIT",
        " commit ;",
        "START TRANSACTION",
        "\n start transaction isolation level snapshot read only;"
      })
  void whenATextCommitsOrStartsNowThenItHoldsNoThread(String text) {
    assertThat(LaterAnswers.isControl(text, true)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "START TRANSACTION AS OF 1795311208875204",
        "start transaction\nas of snapshot monday",
        "ROLLBACK",
        "COMMITTED",
        "SELECT * FROM bank.accounts"
      })
  void whenATextReadsOrWaitsThenItHasAThreadOfItsOwn(String text) {
    assertThat(LaterAnswers.isControl(text, true)).isFalse();
  }

  @Test
  void whenAStartIsBoundToItsConnectionThenItHasAThreadOfItsOwn() {
    assertThat(LaterAnswers.isControl("START TRANSACTION", false)).isFalse();
    assertThat(LaterAnswers.isControl("COMMIT", false)).isTrue();
  }
}
