// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.junit.jupiter.api.Test;

class PayloadTest {
  private static final UUID ID = UUID.fromString("0b5c1a52-7e5d-4b6a-9d0e-6a4e2f1c3d4e");

  @Test
  void whenTheStartTimestampIsGivenThenItIsANumber() {
    assertThat(Payload.startTimestamp(Map.of())).isEmpty();
    assertThat(Payload.startTimestamp(start("1795297897604134"))).hasValue(1795297897604134L);
    assertThatThrownBy(() -> Payload.startTimestamp(start("soon")))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining(Payload.START_TIMESTAMP);
  }

  private static Map<String, ByteBuffer> start(String text) {
    return Map.of(Payload.START_TIMESTAMP, ByteBufferUtil.bytes(text));
  }

  private static Map<String, ByteBuffer> payload(byte[] value) {
    return Map.of(Payload.TRANSACTION, ByteBuffer.wrap(value));
  }

  @Test
  void whenTheIdIsTextOrBytesThenItIsFound() {
    byte[] text = ID.toString().getBytes(StandardCharsets.US_ASCII);
    assertThat(Payload.transactionId(payload(text))).contains(ID);
    ByteBuffer bytes = ByteBuffer.allocate(16);
    bytes.putLong(ID.getMostSignificantBits()).putLong(ID.getLeastSignificantBits());
    assertThat(Payload.transactionId(payload(bytes.array()))).contains(ID);
  }

  @Test
  void whenThereIsNoPayloadOrAnotherOneThenThereIsNoTransaction() {
    assertThat(Payload.transactionId(null)).isEmpty();
    assertThat(Payload.transactionId(Map.of("other", ByteBuffer.allocate(1)))).isEmpty();
  }

  @Test
  void whenTheIdIsNoIdThenTheRequestIsRefused() {
    for (String wrong : new String[] {"", "17", "not-a-uuid", "\u00e4"}) {
      byte[] value = wrong.getBytes(StandardCharsets.UTF_8);
      assertThatThrownBy(() -> Payload.transactionId(payload(value)))
          .isInstanceOf(InvalidRequestException.class)
          .hasMessageContaining(Payload.TRANSACTION);
    }
  }
}
