// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

class RestartGateTest {
  private final RestartGate gate = new RestartGate();

  @Test
  void whenItWasNeverClosedThenReadersPass() {
    gate.pass(1);
    assertThat(gate.isClosed()).isFalse();
  }

  @Test
  void whenItIsOpenedThenThoseWhoWaitPass() {
    gate.close();
    CompletableFuture<Void> reader = CompletableFuture.runAsync(() -> gate.pass(1));
    gate.open();
    reader.join();
    gate.pass(1);
    assertThat(gate.isClosed()).isFalse();
  }

  @Test
  void whenItStaysClosedThenAllReadersAreRefusedInTheEnd() {
    gate.close();
    List<CompletableFuture<Void>> readers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      readers.add(CompletableFuture.runAsync(() -> gate.pass(1), task -> new Thread(task).start()));
    }
    for (CompletableFuture<Void> reader : readers) {
      assertThatThrownBy(reader::join)
          .isInstanceOf(CompletionException.class)
          .hasCauseInstanceOf(SnapshotTooOldException.class);
    }
    assertThat(gate.isClosed()).isTrue();
  }
}
