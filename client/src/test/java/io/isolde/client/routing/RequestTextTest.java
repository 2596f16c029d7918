// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestTextTest {
  private static RequestText of(String text) {
    return RequestText.of(SimpleStatement.newInstance(text));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO t (p) VALUES (1)",
        " update t SET notif = 1 WHERE p = 1",
        "DELETE FROM gifs WHERE p = 1"
      })
  void whenAWriteHasNoConditionThenItIsBlind(String text) {
    assertThat(of(text).isBlindWrite()).isTrue();
    assertThat(of(text).isRead()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO t (p) VALUES (1) IF NOT EXISTS",
        "UPDATE t SET v = 1 WHERE p = 1\nif v = 2",
        "UPDATE t SET v = 'what if' WHERE p = 1",
        "BEGIN BATCH INSERT INTO t (p) VALUES (1) APPLY BATCH",
        "BEGIN TRANSACTION UPDATE t SET v = 1 WHERE p = 1; COMMIT TRANSACTION",
        "TRUNCATE t",
        "SELECT v FROM t",
        "updated"
      })
  void whenItMayDependOnWhatIsStoredThenItIsNot(String text) {
    assertThat(of(text).isBlindWrite()).isFalse();
  }

  @Test
  void whenItIsASelectThenItReads() {
    assertThat(of("  select v FROM t").isRead()).isTrue();
    assertThat(of("selection").isRead()).isFalse();
  }

  @Test
  void whenOneOfABatchHasAConditionThenNoneIsBlind() {
    BatchStatement batch =
        BatchStatement.newInstance(
            BatchType.LOGGED, SimpleStatement.newInstance("INSERT INTO t (p) VALUES (1)"));
    assertThat(RequestText.of(batch).isBlindWrite()).isTrue();
    assertThat(
            RequestText.of(
                    batch.add(SimpleStatement.newInstance("DELETE FROM t WHERE p = 2 IF EXISTS")))
                .isBlindWrite())
        .isFalse();
  }
}
