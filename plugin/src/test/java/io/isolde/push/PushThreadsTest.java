// SPDX-License-Identifier: Apache-2.0
package io.isolde.push;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** How much may wait of what clients ask for. */
class PushThreadsTest {
  private static final int MANY = 10_000;

  private final PushThreads threads = new PushThreads();
  private final CountDownLatch end = new CountDownLatch(1);

  @AfterEach
  void stop() {
    end.countDown();
    threads.close();
  }

  private void hang() {
    Uninterruptibles.awaitUninterruptibly(end);
  }

  /** How many are taken while none ends. */
  private int taken(Predicate<Runnable> kind) {
    int taken = 0;
    while (taken < MANY && kind.test(this::hang)) {
      taken++;
    }
    return taken;
  }

  @Test
  void whenStatementsHangThenFewWaitAndQuestionsGoOn() throws InterruptedException {
    assertThat(taken(threads::prepare)).isEqualTo(PushThreads.MAX_PREPARING + 2);
    CountDownLatch asked = new CountDownLatch(1);
    assertThat(threads.ask(asked::countDown)).isTrue();
    assertThat(asked.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void whenLoginsTakeATenthOfASecondThenAsManyWaitAsAreDoneInTime() {
    assertThat(taken(threads::login)).isBetween(80, 84);
  }

  @Test
  void whenLoginsAreQuickThenMoreMayWait() {
    for (int i = 0; i < 100; i++) {
      threads.loggedIn(TimeUnit.MICROSECONDS.toNanos(100));
    }
    assertThat(taken(threads::login)).isBetween(1_000, 1_002);
  }

  @Test
  void whenOneLoginTakesLongThenHardlyAnyMayWait() {
    threads.loggedIn(10 * PushThreads.MAX_LOGIN_WAIT_NANOS);
    assertThat(taken(threads::login)).isLessThan(10);
  }
}
