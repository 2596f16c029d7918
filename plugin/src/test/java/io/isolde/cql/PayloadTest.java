// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.junit.jupiter.api.Test;

class PayloadTest {
  private static final UUID ID = UUID.fromString("0b5c1a52-7e5d-4b6a-9d0e-6a4e2f1c3d4e");

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
