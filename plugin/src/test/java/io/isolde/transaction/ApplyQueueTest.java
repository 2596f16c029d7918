// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ApplyQueueTest {
  private static final int TASKS = 10_000;

  @Test
  void whenManyTasksComeAtOnceThenAFewThreadsAreAskedFor() {
    Queue<Runnable> threads = new ArrayDeque<>();
    ApplyQueue queue = new ApplyQueue(threads::add);
    int[] done = {0};
    int tasks = 3 * ApplyQueue.TASKS_OF_A_THREAD;
    for (int i = 0; i < tasks; i++) {
      queue.execute(() -> done[0]++);
    }
    assertThat(threads).hasSize(3);

    threads.remove().run();
    assertThat(done[0]).isEqualTo(tasks);

    threads.forEach(Runnable::run);
    threads.clear();
    queue.execute(() -> done[0]++);
    assertThat(threads).hasSize(1);
  }

  @Test
  void whenATaskBlocksThenOnlyAFewWaitBehindIt() throws InterruptedException {
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      ApplyQueue queue = new ApplyQueue(threads);
      CountDownLatch release = new CountDownLatch(1);
      CountDownLatch others = new CountDownLatch(2 * ApplyQueue.TASKS_OF_A_THREAD);
      queue.execute(
          () -> {
            try {
              release.await();
            } catch (InterruptedException e) {
              Thread.currentThread().interrupt();
            }
          });
      for (int i = 0; i < 2 * ApplyQueue.TASKS_OF_A_THREAD; i++) {
        queue.execute(others::countDown);
      }
      assertThat(others.await(10, TimeUnit.SECONDS)).isTrue();
      release.countDown();
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void whenTasksComeFromManyThreadsThenAllOfThemRun() throws InterruptedException {
    ExecutorService threads = Executors.newCachedThreadPool();
    ExecutorService callers = Executors.newFixedThreadPool(4);
    try {
      ApplyQueue queue = new ApplyQueue(threads);
      CountDownLatch done = new CountDownLatch(TASKS);
      for (int i = 0; i < TASKS; i++) {
        callers.execute(() -> queue.execute(done::countDown));
      }
      assertThat(done.await(20, TimeUnit.SECONDS)).isTrue();
    } finally {
      callers.shutdownNow();
      threads.shutdownNow();
    }
  }
}
