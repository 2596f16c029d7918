// SPDX-License-Identifier: Apache-2.0
package io.isolde.rowlock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.oracle.lock.LockTable;
import io.netty.buffer.Unpooled;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What one node writes another one reads, up to the largest message. */
class LockMessagesTest {
  private static final UUID ID = UUID.randomUUID();

  private static Set<Long> ids(int count) {
    return new HashSet<>(LongStream.range(-5, count - 5L).boxed().toList());
  }

  @ParameterizedTest
  @EnumSource(LockTable.Mode.class)
  void whenALockIsAskedForThenTheLeaderReadsTheSame(LockTable.Mode mode) {
    Set<Long> rows = ids(LockTable.MAX_ROWS_EACH);
    for (LockMessages.Message message :
        Set.of(
            new LockMessages.Ask(ID, rows, mode, 7, ids(2 * LockTable.MAX_ROWS_EACH), 500),
            new LockMessages.GiveUp(ID, rows),
            new LockMessages.Release(ID))) {
      assertThat(LockMessages.message(LockMessages.of(message))).isEqualTo(message);
    }
  }

  @ParameterizedTest
  @EnumSource(LockTable.Outcome.class)
  void whenTheLeaderAnswersThenTheNodeReadsTheSame(LockTable.Outcome outcome) {
    LockMessages.Granted granted =
        new LockMessages.Granted(
            new LockTable.Answer(
                outcome, Optional.of(ID), ids(LockTable.MAX_ROWS_EACH + LockTable.MAX_MORE)),
            9);
    assertThat(LockMessages.granted(LockMessages.of(granted))).contains(granted);
    assertThat(LockMessages.granted(LockMessages.notLeader())).isEmpty();
  }

  @Test
  void whenAMessageIsNoneThenItIsRefused() {
    assertThatThrownBy(
            () -> LockMessages.message(Unpooled.buffer().writeByte(9).writeLong(0).writeLong(0)))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(
            () ->
                LockMessages.message(
                    LockMessages.of(
                        new LockMessages.GiveUp(ID, ids(2 * LockTable.MAX_ROWS_EACH + 1)))))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
