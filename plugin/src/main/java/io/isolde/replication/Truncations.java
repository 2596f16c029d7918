// SPDX-License-Identifier: Apache-2.0
package io.isolde.replication;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.schema.TableId;

/**
 * Up to where the tables of a group are truncated, as far as the group's log has been applied, and
 * which are about to be. Not thread-safe.
 */
final class Truncations {
  private static final byte VERSION = 2;

  /** Which held no decisions. */
  private static final byte VERSION_WITHOUT_HOLDS = 1;

  /** Of more tables the first are forgotten: most are dropped by then. */
  static final int MAX_TABLES = 1_024;

  /** Microseconds; in the order in which they came. */
  private final Map<TableId, Long> upTo = new LinkedHashMap<>();

  /** Of tables that are about to be truncated; in the order in which they came. */
  private final Map<TableId, Held> held = new LinkedHashMap<>();

  /**
   * Decisions are refused.
   *
   * @param sinceMicros the log's timestamp
   * @param untilMicros by the clocks of leaders
   */
  private record Held(long sinceMicros, long untilMicros) {}

  /**
   * A table is about to be truncated, and not at all if the end is over at once.
   *
   * @param sinceMicros the log's timestamp
   * @param untilMicros by the clocks of leaders
   */
  void hold(TableId table, long sinceMicros, long untilMicros) {
    held.remove(table);
    if (untilMicros > 0) {
      held.put(table, new Held(sinceMicros, untilMicros));
      if (held.size() > MAX_TABLES) {
        held.remove(held.keySet().iterator().next());
      }
    }
  }

  /** Cheap. */
  boolean isAnyHeld() {
    return !held.isEmpty();
  }

  /**
   * Whether a decision on a table must not be applied.
   *
   * @param clockMicros of the leader that made the entry
   */
  boolean isHeld(TableId table, long clockMicros) {
    Held hold = held.get(table);
    return hold != null && clockMicros < hold.untilMicros();
  }

  /** Whether a table was truncated as far before. */
  boolean reach(TableId table, long upToMicros) {
    Long before = upTo.get(table);
    return before != null && before >= upToMicros;
  }

  /** A table is truncated. An earlier truncation that comes late leaves it held for the next. */
  void add(TableId table, long upToMicros) {
    Held hold = held.get(table);
    if (hold != null && hold.sinceMicros() <= upToMicros) {
      held.remove(table);
    }
    upTo.remove(table);
    upTo.put(table, upToMicros);
    if (upTo.size() > MAX_TABLES) {
      upTo.remove(upTo.keySet().iterator().next());
    }
  }

  /** Whether all of an update was truncated before it came. */
  boolean cover(PartitionUpdate update) {
    Long micros = upTo.get(update.metadata().id);
    return micros != null && update.maxTimestamp() <= micros;
  }

  void forEach(BiConsumer<TableId, Long> action) {
    upTo.forEach(action);
  }

  byte[] save() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeByte(VERSION);
      out.writeInt(upTo.size());
      for (Map.Entry<TableId, Long> entry : upTo.entrySet()) {
        entry.getKey().serialize(out);
        out.writeLong(entry.getValue());
      }
      out.writeInt(held.size());
      for (Map.Entry<TableId, Held> entry : held.entrySet()) {
        entry.getKey().serialize(out);
        out.writeLong(entry.getValue().sinceMicros());
        out.writeLong(entry.getValue().untilMicros());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /**
   * Forgets all, and goes on from what was saved.
   *
   * @param saved empty if it comes from a build that had no truncations
   */
  void restore(byte[] saved) throws IOException {
    upTo.clear();
    held.clear();
    if (saved.length == 0) {
      return;
    }
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(saved));
    byte version = in.readByte();
    if (version != VERSION && version != VERSION_WITHOUT_HOLDS) {
      throw new IOException("The truncations have version " + version + ", not " + VERSION + ".");
    }
    for (int left = in.readInt(); left > 0; left--) {
      add(TableId.deserialize(in), in.readLong());
    }
    if (version == VERSION) {
      for (int left = in.readInt(); left > 0; left--) {
        hold(TableId.deserialize(in), in.readLong(), in.readLong());
      }
    }
  }
}
