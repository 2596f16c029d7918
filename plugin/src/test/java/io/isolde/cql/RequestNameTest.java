// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.config.NodeClock;
import io.isolde.error.IsoldeException;
import io.isolde.group.RequestId;
import java.nio.ByteBuffer;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RequestNameTest {
  private static final long NOW_MICROS = NodeClock.nowMillis() * 1_000;

  private static Map<String, ByteBuffer> payload(long session, long number, long oldestOpen) {
    ByteBuffer bytes = ByteBuffer.allocate(24).putLong(session).putLong(number).putLong(oldestOpen);
    return Map.of(RequestName.KEY, bytes.flip());
  }

  @Test
  void whenARequestHasANameThenItIsRead() {
    assertThat(RequestName.of(payload(-7, NOW_MICROS, NOW_MICROS - 5)))
        .contains(new RequestId(-7, NOW_MICROS, NOW_MICROS - 5));
  }

  @Test
  void whenARequestHasNoneThenItIsEmpty() {
    assertThat(RequestName.of(null)).isEmpty();
    assertThat(RequestName.of(Map.of("other", ByteBuffer.allocate(24)))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 23, 25})
  void whenItHasAnotherLengthThenItIsRefused(int bytes) {
    assertThatThrownBy(() -> RequestName.of(Map.of(RequestName.KEY, ByteBuffer.allocate(bytes))))
        .isInstanceOf(IsoldeException.class)
        .hasMessageContaining("must have 24 bytes");
  }

  @Test
  void whenItCouldBeMistakenForANodesOrIsOfTheFutureThenItIsRefused() {
    assertThatThrownBy(() -> RequestName.of(payload(0, NOW_MICROS, NOW_MICROS)))
        .hasMessageContaining("must have a session");
    assertThatThrownBy(() -> RequestName.of(payload(1, 5, 5)))
        .hasMessageContaining("must have a session");
    assertThatThrownBy(() -> RequestName.of(payload(1, NOW_MICROS, NOW_MICROS + 1)))
        .hasMessageContaining("must have a session");
    assertThatThrownBy(() -> RequestName.of(payload(1, NOW_MICROS + 90_000_000, NOW_MICROS)))
        .hasMessageContaining("more than a minute ahead");
    assertThatThrownBy(
            () -> RequestName.of(payload(1, NOW_MICROS - 130_000_000, NOW_MICROS - 130_000_000)))
        .hasMessageContaining("more than two minutes old");
  }
}
