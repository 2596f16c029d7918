// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.login;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GuessLimitTest {
  private static final int FREE = 3;
  private static final int NAMES = 10;

  private final GuessLimit limit = new GuessLimit(NAMES, FREE);

  private void fail(String name, int times, long now) {
    for (int i = 0; i < times; i++) {
      limit.failed(name, now);
    }
  }

  @Test
  void whenOnlySomeGuessesFailThenTheNextIsLookedAt() {
    fail("alice", FREE, 0);
    assertThat(limit.mayTry("alice", 0)).isTrue();
  }

  @Test
  void whenMoreFailThenThereIsAPauseThatDoubles() {
    fail("alice", FREE + 1, 0);
    assertThat(limit.mayTry("alice", GuessLimit.FIRST_PAUSE_MILLIS - 1)).isFalse();
    assertThat(limit.mayTry("alice", GuessLimit.FIRST_PAUSE_MILLIS)).isTrue();
    limit.failed("alice", 10_000);
    assertThat(limit.mayTry("alice", 10_000 + 2 * GuessLimit.FIRST_PAUSE_MILLIS - 1)).isFalse();
    assertThat(limit.mayTry("alice", 10_000 + 2 * GuessLimit.FIRST_PAUSE_MILLIS)).isTrue();
  }

  @Test
  void whenThousandsFailThenThePauseIsStillBounded() {
    fail("alice", 5_000, 0);
    assertThat(limit.mayTry("alice", GuessLimit.MAX_PAUSE_MILLIS - 1)).isFalse();
    assertThat(limit.mayTry("alice", GuessLimit.MAX_PAUSE_MILLIS)).isTrue();
  }

  @Test
  void whenAPasswordIsRightThenFailuresAreForgotten() {
    fail("alice", FREE + 1, 0);
    limit.succeeded("alice");
    fail("alice", FREE, 0);
    assertThat(limit.mayTry("alice", 0)).isTrue();
  }

  @Test
  void whenNothingFailsForLongThenFailuresAreForgotten() {
    fail("alice", FREE, 0);
    limit.failed("alice", GuessLimit.MEMORY_MILLIS + 1);
    assertThat(limit.mayTry("alice", GuessLimit.MEMORY_MILLIS + 1)).isTrue();
  }

  @Test
  void whenOneIsPausedThenOthersAreNot() {
    fail("alice", FREE + 1, 0);
    assertThat(limit.mayTry("bob", 0)).isTrue();
  }

  @Test
  void whenThereAreMoreNamesThanRoomThenTheOldestIsForgotten() {
    fail("alice", FREE + 1, 0);
    for (int i = 0; i < NAMES; i++) {
      limit.failed("name" + i, 0);
    }
    assertThat(limit.names()).isEqualTo(NAMES);
    assertThat(limit.mayTry("alice", 0)).isTrue();
  }
}
