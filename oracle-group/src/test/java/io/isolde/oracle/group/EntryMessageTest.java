// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.oracle.replica.Command;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class EntryMessageTest {
  /** As they came, and in the command; the queue of the leader is bounded by what it takes. */
  @Test
  void whenACommitWaitsThenItsWritesCountAsOftenAsTheyAreInMemory() {
    Command.Commit commit =
        new Command.Commit(1, 1, TransactionsTest.update(UUID.randomUUID(), 2, 3), new byte[1000]);

    EntryMessage.Item item = new EntryMessage.Item(commit, null, new byte[1100]);

    assertThat(item.heapBytes()).isEqualTo(2100);
  }
}
