// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.OptionalLong;

/**
 * What every replica makes of the log: a timestamp for each write, in the order of the log. The
 * leader proposes the time of its clock; what all replicas take is above everything before, so a
 * leader whose clock is behind its predecessor's does no harm. Pure: the same log gives the same
 * timestamps everywhere and every time it is replayed.
 */
final class LogState {
  /** A deletion inside of a write takes the odd timestamp below it. */
  static final long STEP_MICROS = 2;

  private static final byte VERSION = 3;

  /** Which had no names of clients. */
  private static final byte VERSION_OF_NODES = 2;

  private long lastMicros;
  private RetryWindow window = new RetryWindow();

  /** What a write in the log comes to. */
  record Decision(long timestampMicros, boolean isRepetition) {}

  /**
   * The next write in the log. A repetition has the timestamp of the first, or what {@link
   * RetryWindow} says in its place, and is not applied.
   */
  Decision next(RequestId id, long proposedMicros) {
    OptionalLong before = window.appliedAt(id.session(), id.number());
    if (before.isPresent()) {
      return new Decision(before.getAsLong(), true);
    }
    if (!window.admits(id, lastMicros)) {
      return new Decision(RetryWindow.REFUSED, true);
    }
    long even = proposedMicros & ~1L;
    lastMicros = Math.max(lastMicros + STEP_MICROS, even);
    window.applied(id, lastMicros);
    return new Decision(lastMicros, false);
  }

  /** What comes next is newer than this, a write's own timestamp. */
  void pass(long micros) {
    lastMicros = Math.max(lastMicros, micros & ~1L);
  }

  /** When a write was applied, if it was and may still be repeated. */
  OptionalLong appliedAt(RequestId id) {
    return window.appliedAt(id.session(), id.number());
  }

  /** The newest of all writes. */
  long lastMicros() {
    return lastMicros;
  }

  /**
   * Writes it down.
   *
   * @param ofStorage see {@link Storage#state}
   */
  byte[] save(byte[] ofStorage) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    try {
      out.writeByte(VERSION);
      out.writeLong(lastMicros);
      window.writeTo(out);
      out.writeInt(ofStorage.length);
      out.write(ofStorage);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /** Goes on from what was written down, and returns what the storage gave to that. */
  byte[] restore(byte[] saved) throws IOException {
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(saved));
    byte version = in.readByte();
    if (version != VERSION && version != VERSION_OF_NODES) {
      throw new IOException("The state of the log has version " + version + ", not " + VERSION);
    }
    lastMicros = in.readLong();
    window = version == VERSION ? RetryWindow.readFrom(in) : RetryWindow.ofNodesFrom(in);
    byte[] ofStorage = new byte[in.readInt()];
    in.readFully(ofStorage);
    return ofStorage;
  }
}
