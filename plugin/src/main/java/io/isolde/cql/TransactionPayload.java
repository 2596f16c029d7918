// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.IsoldeException;
import io.isolde.group.RequestId;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.cassandra.service.ClientWarn;
import org.apache.cassandra.transport.messages.ResultMessage;
import org.apache.cassandra.utils.ByteBufferUtil;

/**
 * What a request says of itself and of its transaction in its custom payload.
 *
 * @param transaction which it belongs to
 * @param startTimestamp of that: the sender got no answer to an earlier COMMIT and wants to know,
 *     so the transaction is aborted unless it is decided
 * @param start how the transaction is to be begun, before the statement is executed
 * @param commits whether the transaction is to be committed, after the statement
 * @param name of a write that may come through several nodes; see {@link RequestName}
 */
record TransactionPayload(
    Optional<UUID> transaction,
    OptionalLong startTimestamp,
    Optional<ControlStatement.Start> start,
    boolean commits,
    Optional<RequestId> name) {
  /** The id, as 36 characters of text or as 16 bytes. */
  static final String TRANSACTION = "isolde-transaction";

  /** In decimal digits. Also in answers, to requests with {@link #START}. */
  static final String START_TIMESTAMP = "isolde-start-timestamp";

  /** The text of START TRANSACTION. */
  static final String START = "isolde-start";

  /** Whatever it holds. */
  static final String COMMIT = "isolde-commit";

  private static final TransactionPayload NONE =
      new TransactionPayload(
          Optional.empty(), OptionalLong.empty(), Optional.empty(), false, Optional.empty());
  private static final int UUID_BYTES = 16;

  /**
   * Reads a payload.
   *
   * @param entries null if the request has none
   * @throws IsoldeException if they can't be read, or name no transaction to start or commit
   */
  static TransactionPayload of(Map<String, ByteBuffer> entries) {
    if (entries == null) {
      return NONE;
    }
    TransactionPayload payload =
        new TransactionPayload(
            transactionId(entries.get(TRANSACTION)),
            startTimestamp(entries.get(START_TIMESTAMP)),
            start(entries.get(START)),
            entries.containsKey(COMMIT),
            RequestName.of(entries));
    if (payload.transaction.isEmpty() && (payload.commits || payload.start.isPresent())) {
      throw IsoldeException.invalid(
          "The custom payload has " + START + " or " + COMMIT + ", but no " + TRANSACTION + ".");
    }
    return payload;
  }

  TransactionPayload withoutStart() {
    return start.isEmpty()
        ? this
        : new TransactionPayload(transaction, startTimestamp, Optional.empty(), commits, name);
  }

  private static Optional<UUID> transactionId(ByteBuffer value) {
    if (value == null) {
      return Optional.empty();
    }
    try {
      if (value.remaining() == UUID_BYTES) {
        return Optional.of(
            new UUID(
                value.getLong(value.position()), value.getLong(value.position() + Long.BYTES)));
      }
      return Optional.of(StatementParser.uuid(ByteBufferUtil.string(value)));
    } catch (IllegalArgumentException | CharacterCodingException e) {
      throw IsoldeException.invalid(
          "The custom payload " + TRANSACTION + " must be a UUID, as text or as 16 bytes.");
    }
  }

  private static OptionalLong startTimestamp(ByteBuffer value) {
    if (value == null) {
      return OptionalLong.empty();
    }
    try {
      return OptionalLong.of(Long.parseLong(ByteBufferUtil.string(value)));
    } catch (NumberFormatException | CharacterCodingException e) {
      throw IsoldeException.invalid(
          "The custom payload " + START_TIMESTAMP + " must be a number in decimal digits.");
    }
  }

  private static Optional<ControlStatement.Start> start(ByteBuffer value) {
    if (value == null) {
      return Optional.empty();
    }
    try {
      if (StatementParser.parse(ByteBufferUtil.string(value)).orElse(null)
          instanceof ControlStatement.Start start) {
        return Optional.of(start);
      }
    } catch (CharacterCodingException e) {
      // Told below.
    }
    throw IsoldeException.invalid(
        "The custom payload " + START + " must be the text of START TRANSACTION.");
  }

  /**
   * Tells with the answer when the transaction started. Not with one that has warnings: Cassandra
   * 5.0 writes them before the payload, and some drivers read them after it.
   */
  static CompletableFuture<ResultMessage> started(
      long startTimestamp, CompletableFuture<ResultMessage> answer) {
    return ClientWarn.instance.getWarnings() != null
        ? answer
        : answer.thenApply(
            started -> {
              started.setCustomPayload(
                  Map.of(START_TIMESTAMP, ByteBufferUtil.bytes(Long.toString(startTimestamp))));
              return started;
            });
  }
}
