// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

class RestartBarrierTest {
  private final RestartBarrier barrier = new RestartBarrier();

  @Test
  void whenItWasNeverClosedThenReadersPass() {
    barrier.pass(1);
    assertThat(barrier.isClosed()).isFalse();
  }

  @Test
  void whenItIsOpenedThenThoseWhoWaitPass() {
    barrier.close();
    CompletableFuture<Void> reader = CompletableFuture.runAsync(() -> barrier.pass(1));
    barrier.open();
    reader.join();
    barrier.pass(1);
    assertThat(barrier.isClosed()).isFalse();
  }

  @Test
  void whenItStaysClosedThenAllReadersAreRefusedInTheEnd() {
    barrier.close();
    List<CompletableFuture<Void>> readers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      readers.add(
          CompletableFuture.runAsync(() -> barrier.pass(1), task -> new Thread(task).start()));
    }
    for (CompletableFuture<Void> reader : readers) {
      assertThatThrownBy(reader::join)
          .isInstanceOf(CompletionException.class)
          .hasCauseInstanceOf(SnapshotTooOldException.class);
    }
    assertThat(barrier.isClosed()).isTrue();
  }
}
