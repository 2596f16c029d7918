// SPDX-License-Identifier: Apache-2.0
package io.isolde.client.routing;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.TreeSet;
import java.util.function.LongSupplier;

/**
 * Names the writes of a session, so that each is applied once, through however many nodes it is
 * sent. Thread-safe.
 */
final class WriteNames {
  /** In a request's custom payload. */
  static final String KEY = "isolde-request";

  /** Those who have more writes under way than this send the others without names. */
  static final int MAX_OPEN = 2_048;

  private final long session;
  private final LongSupplier clockMicros;

  /** Guarded by this. */
  private final TreeSet<Long> open = new TreeSet<>();

  private long last;

  /**
   * Names for a session.
   *
   * @param session random
   * @param clockMicros the time since 1970
   */
  WriteNames(long session, LongSupplier clockMicros) {
    this.session = session == 0 ? 1 : session;
    this.clockMicros = clockMicros;
  }

  /**
   * The name of a write.
   *
   * @param number the time, and more than that of the session's last write
   * @param oldestOpen the oldest write that may still be sent again
   */
  record Name(long session, long number, long oldestOpen) {
    /** As the nodes read it. */
    ByteBuffer bytes() {
      return ByteBuffer.allocate(3 * Long.BYTES)
          .putLong(session)
          .putLong(number)
          .putLong(oldestOpen)
          .flip();
    }
  }

  /** A new name; empty if too many are in use. The caller says when it is {@link #done}. */
  synchronized Optional<Name> next() {
    if (open.size() >= MAX_OPEN) {
      return Optional.empty();
    }
    last = Math.max(last + 1, clockMicros.getAsLong());
    open.add(last);
    return Optional.of(new Name(session, last, open.first()));
  }

  /** The write will not be sent again. */
  synchronized void done(Name name) {
    open.remove(name.number());
  }
}
