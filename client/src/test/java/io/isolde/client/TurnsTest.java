// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class TurnsTest {
  private static final Duration LONG = Duration.ofHours(1);

  private final Turns turns = new Turns();

  @Test
  void oneComesAfterTheOtherAsTheyHaveAsked() {
    CompletableFuture<Turns.Turn> first = turns.take("a", LONG);
    CompletableFuture<Turns.Turn> second = turns.take("a", LONG);
    CompletableFuture<Turns.Turn> third = turns.take("a", LONG);
    assertThat(turns.take("b", LONG)).as("another row").isDone();

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
    turns.take("a", LONG).join().close();
    CompletableFuture<Turns.Turn> again = turns.take("a", LONG);
    CompletableFuture<Turns.Turn> next = turns.take("a", LONG);
    again.join().close();
    next.join().close();

    assertThat(turns.rows()).isZero();
  }

  @Test
  void whoHasWaitedLongEnoughGoesOnWithoutATurnAndIsPassedOver()
      throws InterruptedException, ExecutionException, TimeoutException {
    CompletableFuture<Turns.Turn> first = turns.take("a", LONG);
    CompletableFuture<Turns.Turn> impatient = turns.take("a", Duration.ofMillis(1));
    CompletableFuture<Turns.Turn> patient = turns.take("a", LONG);

    assertThat(impatient.get(1, TimeUnit.MINUTES)).isSameAs(Turns.Turn.NONE);
    impatient.join().close();
    assertThat(patient).isNotDone();
    first.join().close();
    assertThat(patient.join()).isNotSameAs(Turns.Turn.NONE);
    patient.join().close();
    assertThat(turns.rows()).isZero();
  }

  @Test
  void whoAsksForTooLongWaitsAsLongAsAnybody() throws Exception {
    turns.take("a", LONG).join();

    assertThat(turns.take("a", LONG).get(30, TimeUnit.SECONDS)).isNotNull();
  }

  /** Who has it may hang, or have been forgotten. */
  @Test
  void whenATurnIsNotGivenBackThenItLapses() throws InterruptedException {
    CompletableFuture<Turns.Turn> forgotten = turns.take("a", LONG);
    assertThat(forgotten).isDone();

    for (int i = 0; turns.rows() > 0 && i < 1_000; i++) {
      Thread.sleep(20);
    }
    assertThat(turns.rows()).isZero();
    forgotten.join().close();
    assertThat(turns.take("a", LONG)).isDone();
  }

  @Test
  void whenTooManyRowsHaveTurnsThenNobodyWaitsForMore() {
    for (int row = 0; row < Turns.MOST_ROWS; row++) {
      turns.take("row " + row, LONG).join();
    }

    assertThat(turns.take("one more", LONG).join()).isSameAs(Turns.Turn.NONE);
    assertThat(turns.take("one more", LONG)).isDone();
    assertThat(turns.take("row 7", LONG)).isNotDone();
  }
}
