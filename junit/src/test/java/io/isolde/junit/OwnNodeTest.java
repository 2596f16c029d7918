// SPDX-License-Identifier: Apache-2.0
package io.isolde.junit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.isolde.client.ErrorCode;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeException;
import io.isolde.client.Transaction;
import org.junit.jupiter.api.Test;

/** A class with settings has a node of its own. */
@IsoldeTest(node = IsoldeTest.Sharing.CLASS, settings = "max_open_transactions: 1")
class OwnNodeTest {
  @Test
  void whenAClassHasSettingsThenItsNodeHasThem(Isolde isolde) {
    try (Transaction first = isolde.begin()) {
      assertThat(first.isOpen()).isTrue();

      assertThat(catchThrowableOfType(IsoldeException.class, isolde::begin).code())
          .isEqualTo(ErrorCode.TOO_MANY_TRANSACTIONS);
    }
  }
}
