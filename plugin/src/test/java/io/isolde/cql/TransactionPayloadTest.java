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

class TransactionPayloadTest {
  private static final UUID ID = UUID.fromString("0b5c1a52-7e5d-4b6a-9d0e-6a4e2f1c3d4e");

  @Test
  void whenTheStartTimestampIsGivenThenItIsANumber() {
    assertThat(TransactionPayload.of(Map.of()).startTimestamp()).isEmpty();
    assertThat(TransactionPayload.of(start("1795297897604134")).startTimestamp())
        .hasValue(1795297897604134L);
    assertThatThrownBy(() -> TransactionPayload.of(start("soon")))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining(TransactionPayload.START_TIMESTAMP);
  }

  private static Map<String, ByteBuffer> start(String text) {
    return Map.of(TransactionPayload.START_TIMESTAMP, ByteBufferUtil.bytes(text));
  }

  private static Map<String, ByteBuffer> payload(byte[] value) {
    return Map.of(TransactionPayload.TRANSACTION, ByteBuffer.wrap(value));
  }

  @Test
  void whenTheIdIsTextOrBytesThenItIsFound() {
    byte[] text = ID.toString().getBytes(StandardCharsets.US_ASCII);
    assertThat(TransactionPayload.of(payload(text)).transaction()).contains(ID);
    ByteBuffer bytes = ByteBuffer.allocate(16);
    bytes.putLong(ID.getMostSignificantBits()).putLong(ID.getLeastSignificantBits());
    assertThat(TransactionPayload.of(payload(bytes.array())).transaction()).contains(ID);
  }

  @Test
  void whenThereIsNoPayloadOrAnotherOneThenThereIsNoTransaction() {
    assertThat(TransactionPayload.of(null).transaction()).isEmpty();
    assertThat(TransactionPayload.of(Map.of("other", ByteBuffer.allocate(1))).transaction())
        .isEmpty();
  }

  @Test
  void whenTheIdIsNoIdThenTheRequestIsRefused() {
    for (String wrong : new String[] {"", "17", "1-1-1-1-1", "not-a-uuid", "\u00e4"}) {
      byte[] value = wrong.getBytes(StandardCharsets.UTF_8);
      assertThatThrownBy(() -> TransactionPayload.of(payload(value)))
          .isInstanceOf(InvalidRequestException.class)
          .hasMessageContaining(TransactionPayload.TRANSACTION)
          .hasMessageEndingWith(
              " [isolde code=INVALID_REQUEST retryable=false outcome=not_committed]");
    }
  }

  @Test
  void whenStartComesWithAStatementThenItsOptionsAreRead() {
    TransactionPayload payload =
        TransactionPayload.of(
            Map.of(
                TransactionPayload.TRANSACTION,
                ByteBufferUtil.bytes(ID.toString()),
                TransactionPayload.START,
                ByteBufferUtil.bytes("START TRANSACTION ISOLATION LEVEL SNAPSHOT READ ONLY"),
                TransactionPayload.COMMIT,
                ByteBufferUtil.EMPTY_BYTE_BUFFER));

    assertThat(payload.start()).hasValueSatisfying(start -> assertThat(start.readOnly()).isTrue());
    assertThat(payload.commits()).isTrue();
  }

  @Test
  void whenStartIsAnotherStatementThenTheRequestIsRefused() {
    for (String wrong : new String[] {"", "COMMIT", "SELECT 1", "START"}) {
      Map<String, ByteBuffer> entries =
          Map.of(
              TransactionPayload.TRANSACTION,
              ByteBufferUtil.bytes(ID.toString()),
              TransactionPayload.START,
              ByteBufferUtil.bytes(wrong));
      assertThatThrownBy(() -> TransactionPayload.of(entries))
          .isInstanceOf(InvalidRequestException.class)
          .hasMessageContaining(TransactionPayload.START);
    }
  }

  @Test
  void whenNoTransactionIsNamedThenNothingCanBeStartedOrCommitted() {
    for (String entry : new String[] {TransactionPayload.START, TransactionPayload.COMMIT}) {
      Map<String, ByteBuffer> entries = Map.of(entry, ByteBufferUtil.bytes("START TRANSACTION"));
      assertThatThrownBy(() -> TransactionPayload.of(entries))
          .isInstanceOf(InvalidRequestException.class)
          .hasMessageContaining(TransactionPayload.TRANSACTION);
    }
  }
}
