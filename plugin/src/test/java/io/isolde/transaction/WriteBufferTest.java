// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class WriteBufferTest {
  private static final long START = 1_000_000;

  @Test
  void whenStatementsRunSideBySideThenNoTwoHaveTheSameTimestamp() {
    WriteBuffer writes = new WriteBuffer(1_000, CommitMemory.unbounded());
    long first = writes.nextTimestamp(START);
    long second = writes.nextTimestamp(START); // Before the first has written anything.

    assertThat(first).isGreaterThan(START);
    assertThat(second).isGreaterThan(first + 1); // A deletion takes one less.
  }
}
