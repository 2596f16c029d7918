// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class EntryPaceTest {
  private final EntryPace pace = new EntryPace();
  private final AtomicInteger waiting = new AtomicInteger(1);

  private CompletableFuture<Void> turn() {
    return CompletableFuture.runAsync(
        () -> {
          try {
            pace.awaitPermit(waiting::get);
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  private void proposed(int commands) throws Exception {
    turn().get(5, TimeUnit.SECONDS);
    pace.proposed(commands);
  }

  @Test
  void whenNothingIsUnderWayThenASingleCommandGoesAtOnce() throws Exception {
    proposed(100);
    pace.ended();

    turn().get(5, TimeUnit.SECONDS);
  }

  @Test
  void whenAnEntryIsUnderWayThenTheNextGoesWhenItIsAsLarge() throws Exception {
    proposed(3);

    CompletableFuture<Void> next = turn();
    waiting.set(2);
    pace.arrived(waiting::get);
    assertThat(next).isNotDone();
    // Also if the turn is awaited only after this, it is given.
    waiting.set(3);
    pace.arrived(waiting::get);
    next.get(5, TimeUnit.SECONDS);
  }

  @Test
  void whenTheEntryEndsThenTheNextGoesHoweverSmall() throws Exception {
    proposed(3);

    CompletableFuture<Void> next = turn();
    pace.ended();

    next.get(5, TimeUnit.SECONDS);
  }

  @Test
  void whenHeldThenNothingGoesUntilItGoesOn() throws Exception {
    assertThat(pace.hold(10)).isTrue();

    CompletableFuture<Void> next = turn();
    assertThat(pace.tryPermit()).isFalse();
    assertThat(pace.hold(10)).isFalse();
    assertThat(next).isNotDone();
    pace.goOn(0);

    next.get(5, TimeUnit.SECONDS);
  }

  @Test
  void whenAnEntryDoesNotEndThenHoldingFailsAndHoldsNothing() throws Exception {
    proposed(1);

    assertThat(pace.hold(10)).isFalse();

    assertThat(pace.tryPermit()).isTrue();
  }

  @Test
  void whenItGoesOnWithAnEntryThenThatIsUnderWay() throws Exception {
    pace.holdUninterruptibly();
    pace.goOn(1);
    waiting.set(0);

    CompletableFuture<Void> next = turn();
    assertThat(next).isNotDone();
    pace.ended();

    next.get(5, TimeUnit.SECONDS);
  }
}
