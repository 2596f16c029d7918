// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.apache.cassandra.exceptions.InvalidRequestException;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * The transaction that a request names in its custom payload: entry {@code isolde-transaction},
 * with the id as 36 characters of text or as 16 bytes. Answers carry none: see docs/adr/0005.
 */
final class Payload {
  static final String TRANSACTION = "isolde-transaction";

  /**
   * With COMMIT: the transaction's start timestamp, in decimal digits. The sender got no answer to
   * an earlier COMMIT and wants to know, so the transaction is aborted unless it is decided.
   */
  static final String START_TIMESTAMP = "isolde-start-timestamp";

  private static final int UUID_BYTES = 16;

  private Payload() {}

  static OptionalLong startTimestamp(Map<String, ByteBuffer> payload) {
    ByteBuffer value = payload == null ? null : payload.get(START_TIMESTAMP);
    if (value == null) {
      return OptionalLong.empty();
    }
    try {
      return OptionalLong.of(Long.parseLong(ByteBufferUtil.string(value)));
    } catch (NumberFormatException | CharacterCodingException e) {
      throw new InvalidRequestException(
          "The custom payload " + START_TIMESTAMP + " must be a number in decimal digits.");
    }
  }

  static Optional<UUID> transactionId(Map<String, ByteBuffer> payload) {
    ByteBuffer value = payload == null ? null : payload.get(TRANSACTION);
    if (value == null) {
      return Optional.empty();
    }
    try {
      if (value.remaining() == UUID_BYTES) {
        return Optional.of(
            new UUID(
                value.getLong(value.position()), value.getLong(value.position() + Long.BYTES)));
      }
      return Optional.of(UUID.fromString(ByteBufferUtil.string(value)));
    } catch (IllegalArgumentException | CharacterCodingException e) {
      throw new InvalidRequestException(
          "The custom payload " + TRANSACTION + " must be a UUID, as text or as 16 bytes.");
    }
  }
}
