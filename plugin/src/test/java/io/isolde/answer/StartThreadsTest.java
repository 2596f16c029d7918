// SPDX-License-Identifier: Apache-2.0
package io.isolde.answer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StartThreadsTest {
  private static final int LEAST = 2;
  private static final int MOST = 8;

  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
  private final StartThreads threads = new StartThreads(LEAST, MOST, clock);
  private final Semaphore gate = new Semaphore(0);
  private final Semaphore held = new Semaphore(0);

  @AfterEach
  void stop() {
    gate.release(10 * MOST);
    clock.shutdownNow();
  }

  private void hold(int requests) {
    for (int i = 0; i < requests; i++) {
      threads.execute(
          () -> {
            held.release();
            gate.acquireUninterruptibly();
          });
    }
  }

  @Test
  void whenARequestHoldsEachThreadThenOthersAreServed() throws Exception {
    hold(LEAST);
    CountDownLatch served = new CountDownLatch(1);
    threads.execute(served::countDown);
    assertThat(served.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void whenMoreAreHeldThanThreadsMayBeThenTheRestWaits() throws Exception {
    hold(MOST + 1);
    assertThat(held.tryAcquire(MOST, 10, TimeUnit.SECONDS)).isTrue();
    assertThat(held.tryAcquire(5 * StartThreads.HELD_MILLIS, TimeUnit.MILLISECONDS)).isFalse();
    assertThat(threads.waiting()).isEqualTo(1);
    gate.release(1);
    assertThat(held.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void whenNoThreadIsHeldAnyMoreThenThereAreAFewAgain() throws Exception {
    hold(MOST);
    assertThat(held.tryAcquire(MOST, 10, TimeUnit.SECONDS)).isTrue();
    gate.release(MOST);
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
    while (threads.size() > LEAST && System.nanoTime() < deadline) {
      Thread.sleep(StartThreads.HELD_MILLIS);
    }
    assertThat(threads.size()).isEqualTo(LEAST);
  }
}
