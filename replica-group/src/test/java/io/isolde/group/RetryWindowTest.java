// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class RetryWindowTest {
  private static final long NOON = 1_800_000_000_000_000L;
  private static final long MUCH_LATER = NOON + 10 * RetryWindow.SESSION_MICROS;

  private final RetryWindow window = new RetryWindow();

  @Test
  void whenAWriteMayBeSentAgainThenItIsKnownWhenItWasApplied() {
    window.applied(new RequestId(1, 7, 7), NOON);
    assertThat(window.appliedAt(1, 7)).hasValue(NOON);
    assertThat(window.appliedAt(1, 8)).isEmpty();
    assertThat(window.appliedAt(2, 7)).isEmpty();
  }

  @Test
  void whenItsSenderHasTheAnswerThenItIsForgottenAndNobodySaysThatItWasNotApplied() {
    window.applied(new RequestId(1, 7, 7), NOON);
    window.applied(new RequestId(1, 8, 8), NOON + 2);
    assertThat(window.appliedAt(1, 7)).hasValue(RetryWindow.FORGOTTEN);
    assertThat(window.appliedAt(1, 8)).hasValue(NOON + 2);
  }

  @Test
  void whenMoreAreOpenThanMayBeThenTheOldestAreForgotten() {
    for (int i = 0; i <= RetryWindow.MAX_OPEN; i++) {
      window.applied(new RequestId(1, i, 0), NOON + i);
    }
    assertThat(window.appliedAt(1, 0)).hasValue(RetryWindow.FORGOTTEN);
    assertThat(window.appliedAt(1, 1)).hasValue(NOON + 1);
  }

  @Test
  void whenALeadersClockIsFarAheadThenRepeatedWritesAreStillKnown() {
    window.applied(new RequestId(1, 7, 7), NOON);
    window.applied(new RequestId(2, 1, 1), MUCH_LATER);
    assertThat(window.appliedAt(1, 7)).hasValue(NOON);
  }

  @Test
  void whenThereAreManySessionsThenThoseNotHeardOfForLongGo() {
    for (int session = 1; session <= RetryWindow.FEW_SESSIONS; session++) {
      window.applied(new RequestId(session, 1, 1), NOON + session);
    }
    window.applied(new RequestId(-1, 1, 1), MUCH_LATER);
    assertThat(window.sessions()).isEqualTo(1);
    assertThat(window.appliedAt(-1, 1)).hasValue(MUCH_LATER);
  }

  @Test
  void whenItIsSavedThenItIsTheSameAfterwards() throws IOException {
    window.applied(new RequestId(1, 7, 6), NOON);
    window.applied(new RequestId(2, 9, 9), NOON + 2);
    ByteArrayOutputStream saved = new ByteArrayOutputStream();
    window.writeTo(new DataOutputStream(saved));
    RetryWindow restored =
        RetryWindow.readFrom(new DataInputStream(new ByteArrayInputStream(saved.toByteArray())));
    for (RetryWindow each : new RetryWindow[] {window, restored}) {
      assertThat(each.appliedAt(1, 7)).isEqualTo(OptionalLong.of(NOON));
      assertThat(each.appliedAt(1, 5)).isEqualTo(OptionalLong.of(RetryWindow.FORGOTTEN));
      assertThat(each.appliedAt(1, 6)).isEmpty();
      assertThat(each.appliedAt(2, 9)).isEqualTo(OptionalLong.of(NOON + 2));
    }
  }
}
