// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class OutstandingTest {
  private final Outstanding<Byte> request =
      new Outstanding<>(1, new byte[] {7}, LeaderRequests.deadline(1_000), body -> body.readByte());

  /** Else another leader may carry out what the caller was told is not done. */
  @Test
  void whenItWasToldThatNothingWasDoneThenItIsNotSentAgain() {
    assertThat(request.bodyToSend()).isPresent();
    assertThat(request.endIfSentOnce()).isTrue();
    assertThat(request.bodyToSend()).isEmpty();
    assertThat(request.sends()).isEqualTo(1);
  }

  @Test
  void whenItWasSentTwiceThenNobodyMaySayThatNothingWasDone() {
    assertThat(request.bodyToSend()).isPresent();
    assertThat(request.bodyToSend()).isPresent();
    assertThat(request.endIfSentOnce()).isFalse();
    assertThat(request.bodyToSend()).isPresent();
  }
}
