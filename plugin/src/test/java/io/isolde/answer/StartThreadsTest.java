// SPDX-License-Identifier: Apache-2.0
package io.isolde.answer;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Uninterruptibles;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StartThreadsTest {
  private static final int LEAST = 2;
  private static final int MOST = 8;
  private static final int UNDER_WAY = 20;

  private final ScheduledExecutorService clock = Executors.newSingleThreadScheduledExecutor();
  private final StartThreads threads = new StartThreads(LEAST, MOST, UNDER_WAY, clock);
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
    gate.release(1);
    assertThat(held.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void whenAsManyAreUnderWayAsMayBeThenTheNextWaitForAnswersInTheirOrder() throws Exception {
    BlockingQueue<Integer> started = new LinkedBlockingQueue<>();
    for (int i = 0; i < UNDER_WAY + 2; i++) {
      int number = i;
      threads.execute(() -> started.add(number));
    }
    for (int i = 0; i < UNDER_WAY; i++) {
      assertThat(started.poll(10, TimeUnit.SECONDS)).isNotNull();
    }
    assertThat(started.poll(5 * StartThreads.HELD_MILLIS, TimeUnit.MILLISECONDS)).isNull();
    threads.answered();
    assertThat(started.poll(10, TimeUnit.SECONDS)).isEqualTo(UNDER_WAY);
    threads.answered();
    assertThat(started.poll(10, TimeUnit.SECONDS)).isEqualTo(UNDER_WAY + 1);
  }

  @Test
  void whenRequestsAndAnswersComeAtOnceThenNoneIsLeftWaiting() throws Exception {
    int requests = 100_000;
    CountDownLatch served = new CountDownLatch(requests);
    for (int i = 0; i < requests; i++) {
      threads.execute(
          () -> {
            served.countDown();
            threads.answered();
          });
    }
    assertThat(served.await(30, TimeUnit.SECONDS)).isTrue();
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

  /** None of them waits for as long as a held one, and together they take all threads. */
  @Test
  void whenEachRequestWaitsForAShortTimeThenThereAreMoreThreads() throws Exception {
    CountDownLatch served = new CountDownLatch(200);
    int mostThreads = 0;
    for (int i = 0; i < 200; i++) {
      threads.execute(
          () -> {
            Uninterruptibles.sleepUninterruptibly(5, TimeUnit.MILLISECONDS);
            threads.answered();
            served.countDown();
          });
    }
    while (!served.await(5, TimeUnit.MILLISECONDS)) {
      mostThreads = Math.max(mostThreads, threads.size());
    }
    assertThat(mostThreads).isGreaterThan(LEAST);
  }
}
