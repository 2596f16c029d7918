// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.smtp;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.concurrent.atomic.AtomicLong;
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

  private static final Response TOO_LARGE =
      new SMTPResponse("552", "5.3.4 The message is larger than this server takes").immutable();
  private static final Response NO_MEMORY =
      new SMTPResponse("452", "4.3.1 Too many messages arrive now, try again later").immutable();
  private static final Response BARE_LINE_END =
      new SMTPResponse("554", "5.6.0 CR or LF stands alone; lines end with both").immutable();

  /** A message that is being received. */
  static final class Receiving {
    private final MessageDigest digest;
    private long bytes;
    private long reserved;
    private Response refusal;

    Receiving() {
      try {
        digest = MessageDigest.getInstance("SHA-256");
      } catch (NoSuchAlgorithmException e) {
        throw new IllegalStateException("Java has no SHA-256", e);
      }
    }
  }

  private final int maxMessageBytes;
  private final long maxReceivingBytes;

  /** Of all messages that are being received; never above its bound. */
  private final AtomicLong receivingBytes = new AtomicLong();

  ReceivingFilter(int maxMessageBytes, long maxReceivingBytes) {
    this.maxMessageBytes = maxMessageBytes;
    this.maxReceivingBytes = maxReceivingBytes;
  }

  /** The SHA-256 of what the client has sent as the message; it can be asked for once. */
  static byte[] digest(SMTPSession session) {
    return session
        .getAttachment(RECEIVING, State.Connection)
        .orElseThrow(() -> new IllegalStateException("No message has been received"))
        .digest
        .digest();
  }

  long receivingBytes() {
    return receivingBytes.get();
  }

  @Override
  public Response onLine(SMTPSession session, byte[] line, LineHandler<SMTPSession> next) {
    Receiving receiving =
        session
            .getAttachment(RECEIVING, State.Connection)
            .orElseGet(
                () -> {
                  Receiving fresh = new Receiving();
                  session.setAttachment(RECEIVING, fresh, State.Connection);
                  return fresh;
                });
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
    if (receivingBytes.addAndGet(line.length) > maxReceivingBytes) {
      receivingBytes.addAndGet(-line.length);
      return NO_MEMORY;
    }
    receiving.reserved += line.length;
    return null;
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
    receivingBytes.addAndGet(-receiving.reserved);
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
