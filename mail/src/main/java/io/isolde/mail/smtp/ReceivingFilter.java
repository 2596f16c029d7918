// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.smtp;

import io.isolde.mail.connection.ClientNetwork;
import io.isolde.mail.store.cql.Contents;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.apache.james.protocols.api.ProtocolSession.AttachmentKey;
import org.apache.james.protocols.api.ProtocolSession.State;
import org.apache.james.protocols.api.Response;
import org.apache.james.protocols.api.handler.DisconnectHandler;
import org.apache.james.protocols.api.handler.LineHandler;
import org.apache.james.protocols.smtp.SMTPResponse;
import org.apache.james.protocols.smtp.SMTPSession;
import org.apache.james.protocols.smtp.core.DataLineFilter;

/**
 * Sees each line of a message first. It bounds the bytes of one message, and of all that are being
 * received. It refuses what could be taken for two messages, and computes what the message is known
 * by. A message that is refused is read to its end, since only then is an answer due.
 */
final class ReceivingFilter implements DataLineFilter, DisconnectHandler<SMTPSession> {
  private static final AttachmentKey<Receiving> RECEIVING =
      AttachmentKey.of("io.isolde.mail.receiving", Receiving.class);

  /** So long a client may take to send a message. */
  static final Duration MAX_TIME = Duration.ofMinutes(5);

  /** What this server adds to a header: the sender, who has come in a line, and short fields. */
  private static final int MAX_ADDED_BYTES = 128 << 10;

  static final int MAX_HEADER_BYTES = Contents.MAX_HEADER_BYTES - MAX_ADDED_BYTES;

  /** James keeps a message in buffers, of which the last one may be half empty. */
  static final int MEMORY_OF_A_BYTE = 2;

  private static final String MESSAGE_ID = "message-id:";

  private static final Response TOO_LARGE =
      new SMTPResponse("552", "5.3.4 The message is larger than this server takes").immutable();
  private static final Response HEADER_TOO_LARGE =
      new SMTPResponse("552", "5.3.4 The header is larger than this server takes").immutable();
  private static final Response NO_MEMORY =
      new SMTPResponse("452", "4.3.1 Too many messages arrive now, try again later").immutable();
  private static final Response BARE_LINE_END =
      new SMTPResponse("554", "5.6.0 CR or LF stands alone; lines end with both").immutable();

  /** A message that is being received. */
  private static final class Receiving {
    private final MessageDigest digest;
    private final long startNanos;
    private final InetAddress client;
    private long bytes;
    private long reserved;
    private boolean isInBody;
    private boolean hasMessageId;
    private boolean isLate;
    private Response refusal;

    Receiving(long startNanos, InetAddress client) {
      this.startNanos = startNanos;
      this.client = client;
      try {
        digest = MessageDigest.getInstance("SHA-256");
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("Java has no SHA-256", e);
      }
    }
  }

  private final int maxMessageBytes;
  private final ReceivingMemory memory;
  private final LongSupplier nanos;

  /**
   * A filter.
   *
   * @param nanos a clock that never goes back
   */
  ReceivingFilter(int maxMessageBytes, ReceivingMemory memory, LongSupplier nanos) {
    this.maxMessageBytes = maxMessageBytes;
    this.memory = memory;
    this.nanos = nanos;
  }

  /**
   * The SHA-256 of what the client has sent as the message; it can be asked for once. Empty if the
   * message has no Message-ID: then another one with the same bytes is another message.
   */
  static Optional<byte[]> digest(SMTPSession session) {
    Receiving received =
        session
            .getAttachment(RECEIVING, State.Connection)
            .orElseThrow(() -> new IllegalStateException("No message has been received"));
    return received.hasMessageId ? Optional.of(received.digest.digest()) : Optional.empty();
  }

  /** The memory of all messages that are being received. */
  long reservedBytes() {
    return memory.reservedBytes();
  }

  @Override
  public Response onLine(SMTPSession session, byte[] line, LineHandler<SMTPSession> next) {
    Receiving receiving =
        session
            .getAttachment(RECEIVING, State.Connection)
            .orElseGet(
                () -> {
                  Receiving fresh =
                      new Receiving(
                          nanos.getAsLong(),
                          ClientNetwork.of(session.getRemoteAddress().getAddress()));
                  session.setAttachment(RECEIVING, fresh, State.Connection);
                  return fresh;
                });
    if (receiving.isLate) {
      return null; // it has heard so, and the connection is being closed
    }
    if (nanos.getAsLong() - receiving.startNanos > MAX_TIME.toNanos()) {
      receiving.isLate = true;
      SMTPResponse tooLate =
          new SMTPResponse("421", "4.4.2 The message takes too long, closing connection");
      tooLate.setEndSession(true);
      return tooLate;
    }
    if (isEnd(line)) {
      return end(session, line, next, receiving);
    }
    if (receiving.refusal == null) {
      receiving.refusal = refusal(receiving, line);
    }
    if (receiving.refusal != null) {
      release(receiving);
      return null;
    }
    receiving.digest.update(line);
    return next.onLine(session, line);
  }

  private Response refusal(Receiving receiving, byte[] line) {
    receiving.bytes += line.length;
    if (receiving.bytes > maxMessageBytes) {
      return TOO_LARGE;
    }
    if (hasBareLineEnd(line)) {
      return BARE_LINE_END;
    }
    if (!receiving.isInBody) {
      receiving.isInBody = line.length == 2;
      receiving.hasMessageId |= startsMessageId(line);
      if (receiving.bytes > MAX_HEADER_BYTES) {
        return HEADER_TOO_LARGE;
      }
    }
    long needed = (long) MEMORY_OF_A_BYTE * line.length;
    if (!memory.tryReserve(receiving.client, needed)) {
      return NO_MEMORY;
    }
    receiving.reserved += needed;
    return null;
  }

  private static boolean startsMessageId(byte[] line) {
    return line.length > MESSAGE_ID.length()
        && new String(line, 0, MESSAGE_ID.length(), StandardCharsets.US_ASCII)
            .equalsIgnoreCase(MESSAGE_ID);
  }

  private Response end(
      SMTPSession session, byte[] line, LineHandler<SMTPSession> next, Receiving receiving) {
    try {
      if (receiving.refusal == null) {
        return next.onLine(session, line);
      }
      session.popLineHandler();
      session.resetState();
      return receiving.refusal;
    } finally {
      release(receiving);
      session.removeAttachment(RECEIVING, State.Connection);
    }
  }

  private void release(Receiving receiving) {
    memory.release(receiving.client, receiving.reserved);
    receiving.reserved = 0;
  }

  @Override
  public void onDisconnect(SMTPSession session) {
    session.getAttachment(RECEIVING, State.Connection).ifPresent(this::release);
  }

  private static boolean isEnd(byte[] line) {
    return line.length == 3 && line[0] == '.';
  }

  /** The line's own end is CR LF always; before it there is to be neither. */
  private static boolean hasBareLineEnd(byte[] line) {
    for (int i = 0; i < line.length - 2; i++) {
      if (line[i] == '\r' || line[i] == '\n') {
        return true;
      }
    }
    return false;
  }
}
