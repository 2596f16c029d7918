// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.notifications;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.bench.kit.Pause;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class OpenLoopTest {
  private static final int SECONDS = 30;

  private final List<CommitLog> logs = List.of(new CommitLog(), new CommitLog());
  private final AtomicInteger changes = new AtomicInteger();

  @Test
  void whenAChangeTakesLongThenTheNextOnesDoNotWaitForIt() throws Exception {
    CountDownLatch others = new CountDownLatch(5);
    OpenLoop loop =
        new OpenLoop(
            1_000,
            row -> {
              int id = changes.incrementAndGet();
              if (id == 1) {
                await(others);
              }
              others.countDown();
              return id;
            },
            logs);
    Pause.until("others have passed it", SECONDS, () -> others.getCount() == 0);
    loop.close();
    List<Long> ids = logs.stream().flatMap(log -> log.written().ids().stream()).sorted().toList();
    assertThat(ids)
        .containsExactlyElementsOf(LongStream.rangeClosed(1, changes.get()).boxed().toList());
    for (CommitLog log : logs) {
      assertThat(log.written().ids()).as("in turns").hasSizeGreaterThanOrEqualTo(2).isSorted();
    }
    assertThat(loop.refused()).isZero();
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void whenChangesFailThenThoseInDoubtAreKeptApart() throws Exception {
    OpenLoop loop =
        new OpenLoop(
            1_000,
            row -> {
              if (changes.incrementAndGet() % 2 == 0) {
                throw new Writer.DoubtfulException(new IllegalStateException("planted"));
              }
              throw new IllegalStateException("planted");
            },
            logs);
    Pause.until("some were tried", SECONDS, () -> changes.get() >= 10);
    loop.close();
    long doubtful = logs.stream().mapToInt(log -> log.written().doubtful()).sum();
    assertThat(doubtful).isEqualTo(changes.get() / 2);
    assertThat(loop.refused() + doubtful).isEqualTo(changes.get());
  }
}
