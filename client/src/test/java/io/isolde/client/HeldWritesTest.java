// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeldWritesTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO t (k) VALUES (1) IF NOT EXISTS",
        "UPDATE t SET v = 'it''s' WHERE k = 1 if v = 'x'",
        "DELETE FROM t WHERE k = 1 IF EXISTS"
      })
  void whenAWriteHasAConditionThenItIsNotHeldBack(String cql) {
    assertThatThrownBy(() -> HeldWrites.checked(SimpleStatement.newInstance(cql)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("with IF");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE t SET v = 'only if it''s quoted' WHERE k = 1",
        "UPDATE t SET \"if\" = $$ if $$ WHERE k = 1",
        "UPDATE t SET gif = ?, if_not = ? WHERE k = 1"
      })
  void whenTheWordIsQuotedOrAPartOfAnotherThenTheWriteIsHeldBack(String cql) {
    SimpleStatement write = SimpleStatement.newInstance(cql);
    assertThat(HeldWrites.checked(write)).isSameAs(write);
  }
}
