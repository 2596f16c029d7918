// SPDX-License-Identifier: Apache-2.0
package io.isolde.group;

import io.isolde.raft.LogData;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * A log entry: some writes. The leader that made it gets this very object back when it is applied.
 * So the leader need not decode it, and finds the answers in it.
 */
final class Entry implements LogData {
  /** Instead of a timestamp: what it was decided on may be gone, so nobody applies it. */
  static final long OUTDATED = -1;

  static final int ITEM_HEADER_BYTES = 5 * Long.BYTES + Integer.BYTES;
  private static final int HEADER_BYTES = 1 + Integer.BYTES;
  private static final byte VERSION = 2;

  /** Which did not know in which term a write was decided on. */
  private static final byte VERSION_WITHOUT_TERMS = 1;

  /**
   * A write in the log.
   *
   * @param proposedMicros the leader's clock
   * @param decidedInTerm see {@link Write#decidedInTerm}
   * @param decoded see {@link Write#decoded}
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Item(
      RequestId id, long proposedMicros, long decidedInTerm, byte[] payload, Object decoded) {
    /**
     * Whether others may have written since it was decided on.
     *
     * @param term of its entry in the log
     */
    boolean isOutdated(long term) {
      return isDecided() && decidedInTerm != term;
    }

    /** Whether it depends on what was stored. */
    boolean isDecided() {
      return decidedInTerm != Write.BLIND;
    }
  }

  private final List<Item> items;

  /** Null until it is applied, before its proposal completes. */
  private List<Long> timestamps;

  Entry(List<Item> items) {
    this.items = items;
  }

  List<Item> items() {
    return items;
  }

  /**
   * What the writes came to, in their order: timestamps, {@link #OUTDATED}, or what else is said.
   */
  void applied(List<Long> newTimestamps) {
    timestamps = newTimestamps;
  }

  /** See {@link #applied}; null if it is not applied. */
  List<Long> timestamps() {
    return timestamps;
  }

  @Override
  public byte[] encode() {
    int bytes = HEADER_BYTES;
    for (Item item : items) {
      bytes += ITEM_HEADER_BYTES + item.payload().length;
    }
    ByteBuffer out = ByteBuffer.allocate(bytes).put(VERSION).putInt(items.size());
    for (Item item : items) {
      out.putLong(item.id().session()).putLong(item.id().number());
      out.putLong(item.id().oldestOpen()).putLong(item.proposedMicros());
      out.putLong(item.decidedInTerm());
      out.putInt(item.payload().length).put(item.payload());
    }
    return out.array();
  }

  /**
   * Reads an entry that another node made.
   *
   * @throws IllegalArgumentException if it is none
   */
  static Entry decode(ByteBuffer in) {
    try {
      byte version = in.get();
      if (version != VERSION && version != VERSION_WITHOUT_TERMS) {
        throw new IllegalArgumentException("An entry of the log has version " + version + ".");
      }
      int count = in.getInt();
      List<Item> items = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        RequestId id = new RequestId(in.getLong(), in.getLong(), in.getLong());
        long proposedMicros = in.getLong();
        long decidedInTerm = version == VERSION_WITHOUT_TERMS ? Write.BLIND : in.getLong();
        byte[] payload = new byte[in.getInt()];
        in.get(payload);
        items.add(new Item(id, proposedMicros, decidedInTerm, payload, null));
      }
      return new Entry(items);
    } catch (BufferUnderflowException | NegativeArraySizeException e) {
      throw new IllegalArgumentException("An entry of the log ends too early.", e);
    }
  }
}
