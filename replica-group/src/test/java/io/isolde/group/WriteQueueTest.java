// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.raft.ByteBudget;
import io.isolde.raft.GroupFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WriteQueueTest {
  private static final int MEBIBYTE = 1 << 20;
  private static final byte[] LARGE = new byte[3 * MEBIBYTE];

  /** Without a replica, as it makes no entries during a pause. */
  private final ByteBudget memory = new ByteBudget(64 * MEBIBYTE);

  private final WriteQueue queue = new WriteQueue(null, 4 * MEBIBYTE, () -> 1, memory);

  @Test
  void whenLargeWritesWaitThenTheirBytesAreBounded() {
    assertThat(queue.pause(1_000)).isDone();
    List<CompletableFuture<Long>> waiting = new ArrayList<>();
    CompletableFuture<Long> next = offer(0);
    while (!next.isDone() && waiting.size() < 1_000) {
      waiting.add(next);
      next = offer(waiting.size());
    }
    assertThat(next)
        .failsWithin(0, TimeUnit.SECONDS)
        .withThrowableOfType(ExecutionException.class)
        .satisfies(
            thrown ->
                assertThat(((GroupFailure) thrown.getCause()).reason())
                    .isEqualTo(GroupFailure.Reason.OVERLOADED));
    assertThat(waiting).hasSize(64 / 3);
    assertThat(queue.size()).isEqualTo(64 / 3);
  }

  /** A node may lead hundreds of groups. */
  @Test
  void whenAnotherGroupTakesAllTheMemoryThenAWriteIsRefused() {
    assertThat(queue.pause(1_000)).isDone();
    assertThat(memory.take(63 * MEBIBYTE)).isTrue();
    assertThat(offer(0))
        .failsWithin(0, TimeUnit.SECONDS)
        .withThrowableOfType(ExecutionException.class)
        .satisfies(
            thrown ->
                assertThat(((GroupFailure) thrown.getCause()).reason())
                    .isEqualTo(GroupFailure.Reason.OVERLOADED));
    memory.give(63 * MEBIBYTE);
    assertThat(offer(0)).isNotDone();
  }

  private CompletableFuture<Long> offer(int number) {
    RequestId id = new RequestId(1, number + 1, 1);
    return queue.offer(new Write(id, new int[] {number}, LARGE, null));
  }
}
