// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.UUID;
import org.junit.jupiter.api.Test;

class LowWatermarkTest {
  private final OracleFixture fixture = new OracleFixture();
  private final StatusOracle oracle = fixture.oracle;
  private final UUID first = fixture.transaction();
  private final UUID second = fixture.transaction();

  @Test
  void whenNothingIsOpenThenItIsStable() {
    oracle.stable(100);
    assertThat(oracle.lowWatermark()).isEqualTo(100);
  }

  @Test
  void whenThePastIsRetainedThenItStaysBehindAndHoldsReadersThatBeginThere() {
    StatusOracle retaining = new StatusOracle(OracleFixture.CONFIG.withRetentionMicros(50), 0);
    retaining.reserve(1000);
    retaining.stable(100);
    assertThat(retaining.lowWatermark()).isEqualTo(50);
    retaining.beginAt(first, 60, 100);
    retaining.stable(200);
    assertThat(retaining.lowWatermark()).isEqualTo(60);
    retaining.end(first);
    assertThat(retaining.lowWatermark()).isEqualTo(150);
  }

  @Test
  void whenTransactionsAreOpenThenItIsTheOldestStart() {
    oracle.begin(first, 100);
    oracle.begin(second, 200);
    oracle.stable(300);
    assertThat(oracle.lowWatermark()).isEqualTo(100);
    oracle.end(first);
    assertThat(oracle.lowWatermark()).isEqualTo(200);
    oracle.end(second);
    assertThat(oracle.lowWatermark()).isEqualTo(300);
  }

  @Test
  void whenTwoShareAStartThenBothHoldIt() {
    oracle.begin(first, 100);
    oracle.begin(second, 100);
    oracle.stable(200);
    oracle.end(first);
    assertThat(oracle.lowWatermark()).isEqualTo(100);
  }

  @Test
  void whenATransactionIsDecidedThenItHoldsItNoLonger() {
    long start = oracle.begin(first, 100);
    oracle.begin(second, 100);
    oracle.applied(
        OracleFixture.timestampOf(
            oracle.commit(OracleFixture.update(first, IsolationLevel.SNAPSHOT, start, 1), 200)));
    assertThat(oracle.lowWatermark()).isEqualTo(100);
    oracle.commit(OracleFixture.update(second, IsolationLevel.SNAPSHOT, start, 1), 200);
    assertThat(oracle.lowWatermark()).isEqualTo(200);
    assertThat(oracle.statistics().openTransactions()).isZero();
  }

  @Test
  void whenAReaderOfThePastBeginsThenItDoesNotGoBack() {
    oracle.stable(200);
    oracle.beginAt(first, 100, 300);
    assertThat(oracle.lowWatermark()).isEqualTo(200);
    oracle.end(first);
    assertThat(oracle.lowWatermark()).isEqualTo(300);
  }

  @Test
  void whenAReaderOfThePastIsAboveItThenItHoldsIt() {
    oracle.stable(200);
    oracle.beginAt(first, 250, 300);
    assertThat(oracle.lowWatermark()).isEqualTo(250);
  }

  @Test
  void whenASnapshotIsInTheFutureThenItIsRefused() {
    assertThatThrownBy(() -> oracle.beginAt(first, 302, 300))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("The snapshot 302 is not between 0 and 300, the newest.");
    assertThat(oracle.statistics().openTransactions()).isZero();
  }

  @Test
  void whenATransactionBeginsTwiceThenItKeepsItsStart() {
    assertThat(oracle.begin(first, 100)).isEqualTo(100);
    assertThat(oracle.begin(first, 200)).isEqualTo(100);
    oracle.beginAt(first, 100, 300);
    assertThatThrownBy(() -> oracle.beginAt(first, 50, 300))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(oracle.statistics().begun()).isEqualTo(1);
  }

  @Test
  void whenADecidedTransactionBeginsAgainThenItIsRefused() {
    oracle.commit(OracleFixture.blindWrite(first, 0, 1), 100);
    assertThatThrownBy(() -> oracle.begin(first, 200)).isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void whenAnUnknownTransactionEndsThenNothingHappens() {
    oracle.end(first);
    assertThat(oracle.outcome(first)).isEmpty();
  }

  @Test
  void whenTooManyAreOpenThenNoOtherBegins() {
    for (int i = 0; i < OpenTransactions.MAX_OPEN; i++) {
      oracle.begin(new UUID(2, i), 100);
    }
    assertThatThrownBy(() -> oracle.begin(first, 100)).isInstanceOf(IllegalStateException.class);
    oracle.end(new UUID(2, 0));
    assertThat(oracle.begin(first, 100)).isEqualTo(100);
  }
}
