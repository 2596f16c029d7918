// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class ConflictQueueTest {
  private static final Duration LONG = Duration.ofHours(1);

  private final ConflictQueue conflicts = new ConflictQueue();

  @Test
  void oneComesAfterTheOtherAsTheyHaveAsked() {
    CompletableFuture<ConflictQueue.Permit> first = conflicts.take("a", LONG);
    CompletableFuture<ConflictQueue.Permit> second = conflicts.take("a", LONG);
    CompletableFuture<ConflictQueue.Permit> third = conflicts.take("a", LONG);
    assertThat(conflicts.take("b", LONG)).as("another row").isDone();

    assertThat(first).isDone();
    assertThat(second).isNotDone();
    first.join().close();
    second.join();
    first.join().close();
    assertThat(third).as("who ends twice hands on once").isNotDone();
    second.join().close();
    third.join();
  }

  @Test
  void whenNobodyHasTheTurnThenNothingIsRemembered() {
    conflicts.take("a", LONG).join().close();
    CompletableFuture<ConflictQueue.Permit> again = conflicts.take("a", LONG);
    CompletableFuture<ConflictQueue.Permit> next = conflicts.take("a", LONG);
    again.join().close();
    next.join().close();

    assertThat(conflicts.rows()).isZero();
  }

  @Test
  void whoHasWaitedLongEnoughGoesOnWithoutATurnAndIsPassedOver()
      throws InterruptedException, ExecutionException, TimeoutException {
    CompletableFuture<ConflictQueue.Permit> first = conflicts.take("a", LONG);
    CompletableFuture<ConflictQueue.Permit> impatient = conflicts.take("a", Duration.ofMillis(1));
    CompletableFuture<ConflictQueue.Permit> patient = conflicts.take("a", LONG);

    assertThat(impatient.get(1, TimeUnit.MINUTES)).isSameAs(ConflictQueue.Permit.NONE);
    impatient.join().close();
    assertThat(patient).isNotDone();
    first.join().close();
    assertThat(patient.join()).isNotSameAs(ConflictQueue.Permit.NONE);
    patient.join().close();
    assertThat(conflicts.rows()).isZero();
  }

  @Test
  void whoAsksForTooLongWaitsAsLongAsAnybody() throws Exception {
    conflicts.take("a", LONG).join();

    assertThat(conflicts.take("a", LONG).get(30, TimeUnit.SECONDS)).isNotNull();
  }

  /** Who has it may hang, or have been forgotten. */
  @Test
  void whenATurnIsNotGivenBackThenItLapses() throws InterruptedException {
    CompletableFuture<ConflictQueue.Permit> forgotten = conflicts.take("a", LONG);
    assertThat(forgotten).isDone();

    for (int i = 0; conflicts.rows() > 0 && i < 1_000; i++) {
      Thread.sleep(20);
    }
    assertThat(conflicts.rows()).isZero();
    forgotten.join().close();
    assertThat(conflicts.take("a", LONG)).isDone();
  }

  @Test
  void whenTooManyRowsHaveTurnsThenNobodyWaitsForMore() {
    for (int row = 0; row < ConflictQueue.MAX_ROWS; row++) {
      conflicts.take("row " + row, LONG).join();
    }

    assertThat(conflicts.take("one more", LONG).join()).isSameAs(ConflictQueue.Permit.NONE);
    assertThat(conflicts.take("one more", LONG)).isDone();
    assertThat(conflicts.take("row 7", LONG)).isNotDone();
  }
}
