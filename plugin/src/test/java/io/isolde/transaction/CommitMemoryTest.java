// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** What all commits of a node take together. */
class CommitMemoryTest {
  private static final long MAX_BYTES = 1_000;

  private final CommitMemory memory = new CommitMemory(MAX_BYTES);

  @Test
  void whenItIsFullThenMoreIsRefusedUntilSomeIsGivenBack() {
    CommitMemory.Share first = memory.share(150);
    memory.share(100);
    assertThatThrownBy(() -> memory.share(1))
        .isInstanceOfSatisfying(
            IsoldeException.class,
            e -> assertThat(e.errorCode()).isEqualTo(ErrorCode.ORACLE_OVERLOADED));
    first.release();
    memory.share(150);
    assertThat(memory.bytes()).isEqualTo(MAX_BYTES);
  }

  @Test
  void whenSeveralHoldAShareThenTheLastGivesItBack() {
    CommitMemory.Share share = memory.share(100);
    share.hold();
    share.release();
    assertThat(memory.bytes()).isEqualTo(400);
    share.release();
    assertThat(memory.bytes()).isZero();
  }

  /** It would never fit. */
  @Test
  void whenOneIsLargerThanAllThereIsThenItIsTakenAlone() {
    CommitMemory.Share large = memory.share(MAX_BYTES);
    assertThatThrownBy(() -> memory.share(1)).isInstanceOf(IsoldeException.class);
    large.release();
    assertThat(memory.bytes()).isZero();
  }

  @Test
  void whenSharesComeAndGoThenTheyNeverTakeMoreThanThereIsAndNothingIsLost() {
    Random random = new Random(26);
    Queue<CommitMemory.Share> held = new ArrayDeque<>();
    for (int i = 0; i < 10_000; i++) {
      try {
        held.add(memory.share(random.nextInt(100)));
      } catch (IsoldeException full) {
        held.remove().release();
      }
      assertThat(memory.bytes()).isBetween(0L, MAX_BYTES);
    }
    held.forEach(CommitMemory.Share::release);
    assertThat(memory.bytes()).isZero();
  }
}
