// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.config.NodeClock;
import io.isolde.error.IsoldeException;
import io.isolde.group.RequestId;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;

/**
 * How a client names a write, so that it is applied once, though it is sent through several nodes.
 *
 * <p>The custom payload {@code isolde-request} has 24 bytes, three numbers of 8 bytes, big-endian:
 *
 * <ul>
 *   <li>the client's session, a random number that is not 0;
 *   <li>the write: the time of the client's clock, in microseconds since 1970, and more than that
 *       of the session's last write;
 *   <li>the oldest write of the session that may still be sent again.
 * </ul>
 */
final class RequestName {
  static final String KEY = "isolde-request";

  private static final int BYTES = 3 * Long.BYTES;
  private static final long MAX_AHEAD_MICROS = 60_000_000L;
  private static final long MAX_BEHIND_MICROS = 120_000_000L;

  private RequestName() {}

  /**
   * Reads it.
   *
   * @param entries null if the request has none
   * @throws IsoldeException if it is not one, or from a clock that is a minute ahead or two behind:
   *     whether such a write was applied could not be known for long enough
   */
  static Optional<RequestId> of(Map<String, ByteBuffer> entries) {
    ByteBuffer value = entries == null ? null : entries.get(KEY);
    if (value == null) {
      return Optional.empty();
    }
    int at = value.position();
    if (value.remaining() != BYTES) {
      throw invalid("must have " + BYTES + " bytes");
    }
    RequestId id =
        new RequestId(
            value.getLong(at), value.getLong(at + Long.BYTES), value.getLong(at + 2 * Long.BYTES));
    if (id.session() == 0 || !id.isOfClient() || id.oldestOpen() > id.number()) {
      throw invalid("must have a session, a time and an older time, all in microseconds");
    }
    long aheadMicros = id.number() - NodeClock.nowMillis() * 1_000;
    if (aheadMicros > MAX_AHEAD_MICROS) {
      throw invalid("is from a clock that is more than a minute ahead of this node's");
    }
    if (-aheadMicros > MAX_BEHIND_MICROS) {
      throw invalid("is more than two minutes old by this node's clock");
    }
    return Optional.of(id);
  }

  /** For requests that may be applied twice if they are sent twice. */
  static void refuse(Incoming incoming) {
    if (incoming.payload().name().isPresent()) {
      throw invalid(
          "goes with writes to strong keyspaces, without conditions and outside of transactions");
    }
  }

  private static IsoldeException invalid(String sentence) {
    return IsoldeException.invalid(
        "The custom payload " + KEY + " " + sentence + ". Send the request without it.");
  }
}
