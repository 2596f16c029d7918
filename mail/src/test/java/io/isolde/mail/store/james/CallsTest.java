// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.datastax.oss.driver.api.core.DriverTimeoutException;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.james.mailbox.exception.MailboxException;
import org.junit.jupiter.api.Test;

class CallsTest {
  private static final int READERS = 100;

  @Test
  void whenManyReadersWaitForTheirClientsThenOthersCallAllTheSame() throws Exception {
    CountDownLatch all = new CountDownLatch(READERS);
    CountDownLatch go = new CountDownLatch(1);
    ExecutorService threads = Executors.newFixedThreadPool(READERS);
    try {
      for (int i = 0; i < READERS; i++) {
        threads.execute(
            () ->
                Calls.flux(() -> List.of(1, 2))
                    .doOnNext(
                        message -> {
                          all.countDown();
                          awaitQuietly(go);
                        })
                    .blockLast());
      }
      assertThat(all.await(20, TimeUnit.SECONDS)).as("all read at the same time").isTrue();
      assertThat(Calls.mono(() -> "delivered").block(Duration.ofSeconds(20)))
          .isEqualTo("delivered");
    } finally {
      go.countDown();
      threads.shutdownNow();
    }
  }

  @Test
  void whenAListFailsAfterItsFirstPageThenJamesKnowsTheError() {
    Iterator<Integer> pages =
        new Iterator<>() {
          private int read;

          @Override
          public boolean hasNext() {
            if (read == 2) {
              throw new DriverTimeoutException("The second page is late");
            }
            return true;
          }

          @Override
          public Integer next() {
            return read++;
          }
        };
    assertThat(catchThrowable(() -> Calls.flux(() -> () -> pages).blockLast()))
        .hasCauseInstanceOf(MailboxException.class)
        .hasRootCauseInstanceOf(DriverTimeoutException.class);
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
