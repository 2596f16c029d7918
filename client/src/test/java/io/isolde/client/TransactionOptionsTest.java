// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class TransactionOptionsTest {
  @Test
  void whenNothingIsSaidThenTheTransactionIsSerializableAndWrites() {
    assertThat(TransactionOptions.defaults().startStatement())
        .isEqualTo("START TRANSACTION ISOLATION LEVEL SERIALIZABLE");
  }

  @Test
  void whenATimestampIsGivenThenTheTransactionReadsOnly() {
    assertThat(TransactionOptions.asOf(123).startStatement())
        .isEqualTo("START TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY AS OF 123");
  }

  @Test
  void whenOptionsAreTakenOverThenNothingIsLost() {
    TransactionOptions options =
        TransactionOptions.builder()
            .isolationLevel(IsolationLevel.SNAPSHOT)
            .readOnly(true)
            .maxAttempts(3)
            .timeLimit(Duration.ofSeconds(1))
            .backoff(Duration.ofMillis(1), Duration.ofMillis(2))
            .build();

    assertThat(options.toBuilder().build()).isEqualTo(options).hasSameHashCodeAs(options);
    assertThat(options).isNotEqualTo(TransactionOptions.reading());
    assertThat(options.startStatement())
        .isEqualTo("START TRANSACTION ISOLATION LEVEL SNAPSHOT READ ONLY");
  }

  @Test
  void whenATransactionIsToWriteIntoThePastThenItIsRefused() {
    refused(
        TransactionOptions.builder().asOfMicros(1).readOnly(false),
        "A transaction AS OF an earlier timestamp reads only: leave out readOnly(false).");
  }

  @Test
  void whenLimitsMakeNoSenseThenTheyAreRefused() {
    refused(
        TransactionOptions.builder().asOfMicros(-1),
        "The AS OF timestamp is -1 microseconds, but it must not be negative.");
    refused(
        TransactionOptions.builder().maxAttempts(0),
        "maxAttempts is 0, but it must be at least 1.");
    refused(
        TransactionOptions.builder().timeLimit(Duration.ZERO),
        "timeLimit is PT0S, but it must be longer than nothing.");
    refused(
        TransactionOptions.builder().backoff(Duration.ofSeconds(2), Duration.ofSeconds(1)),
        "backoffCap is PT1S, but it must be at least backoffBase, which is PT2S.");
  }

  private static void refused(TransactionOptions.Builder builder, String sentence) {
    assertThatThrownBy(builder::build)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(sentence);
  }
}
